package agent

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// MaxSenderCircuits is how many senders an agent keeps a circuit of. Beyond, the one is dropped that has not changed for the longest time.
const MaxSenderCircuits = 256

// SenderCircuit is the circuit between one sender and the agent: what one sender sends in vain stops that sender alone.
type SenderCircuit struct {
	Sender  string  `json:"sender"` // a principal, such as "agent/lead"
	Circuit Circuit `json:"circuit"`
	Counted int     `json:"counted,omitempty"` // of its failures, those that count in the shared circuit: since anybody's last success
}

// At reads the circuit at the time now.
func (p SenderCircuit) At(now time.Time) Reading {
	r := p.Circuit.at(now)
	r.Sender = p.Sender
	return r
}

// The values of [Reading.Scope].
const (
	ScopeShared = "shared" // the circuit stops the handoffs of all senders
	ScopeSender = "pair"   // it stops those of one sender
)

// Scope says whose handoffs the circuit stops.
func (r Reading) Scope() string {
	if r.Sender != "" {
		return ScopeSender
	}
	return ScopeShared
}

// shortSender is the name of a principal without its role, where it is an agent.
func shortSender(principal string) string { return strings.TrimPrefix(principal, "agent/") }

func (s *State) findSender(sender string) (int, bool) {
	return slices.BinarySearchFunc(s.SenderCircuits, sender, func(p SenderCircuit, name string) int { return cmp.Compare(p.Sender, name) })
}

// senderCircuit is the circuit of one sender.
func (s *State) senderCircuit(sender string) Circuit {
	if i, there := s.findSender(sender); there {
		return s.SenderCircuits[i].Circuit
	}
	return Circuit{}
}

// blamed is the sender whose failure an outcome is. An error of delivery is nobody's.
func (c ReportOutcome) blamed() string {
	if c.Outcome == DeliveryError {
		return ""
	}
	return c.Sender
}

// reached reports whether one more failure opens the shared circuit. Failures of delivery, and those of which the sender is not
// known, do so by themselves. Those of senders' handoffs do only if they are of at least two senders: each counts for one
// less than it takes.
func (s *State) reached(c ReportOutcome) bool {
	sender := c.blamed()
	limit, unnamed, known := s.Spec.Breaker.Failures, s.Circuit.Failures, sender == ""
	need := max(limit, 2)
	sum := 0
	for i := range s.SenderCircuits {
		k := &s.SenderCircuits[i]
		n := k.Counted
		unnamed -= n
		if k.Sender == sender {
			n, known = n+1, true
		}
		sum += min(n, need-1)
	}
	if sender == "" {
		unnamed++
	}
	if !known { // its first
		sum++
	}
	return unnamed >= limit || unnamed+sum >= need
}

// openers are the senders whose failures have opened the shared circuit, with the one that failed last.
func (s *State) openers(last string) []string {
	list := slices.Clone(s.Circuit.Openers)
	for i := range s.SenderCircuits {
		if k := &s.SenderCircuits[i]; k.Counted > 0 {
			list = append(list, k.Sender)
		}
	}
	if last != "" {
		list = append(list, last)
	}
	slices.Sort(list)
	list = slices.Compact(list)
	return list[:min(len(list), MaxSenderCircuits)]
}

// count notes a failure of a sender's handoff, in its circuit and, once for each while that was closed, in the shared one.
func (s *State) count(sender string, cause uint64, to func() Circuit) {
	s.Circuit.LastCause = max(s.Circuit.LastCause, cause)
	s.setSender(sender, func(p *SenderCircuit) {
		if !p.Circuit.Open && !s.Circuit.Open {
			p.Counted++
			s.Circuit.Failures++
		}
		p.Circuit = to()
	})
}

// succeed notes a success of a sender's handoff: the failures in a row of the agent, and of the sender, are over.
func (s *State) succeed(sender string, cause uint64) {
	s.Circuit.LastCause = max(s.Circuit.LastCause, cause)
	s.setSender(sender, func(p *SenderCircuit) {
		if !p.Circuit.Open {
			p.Circuit = Circuit{}
		}
	})
	if !s.Circuit.Open {
		s.Circuit.Failures = 0
		s.forget()
	}
}

// forget ends the count of each sender's failures in the shared circuit.
func (s *State) forget() {
	list := slices.Clone(s.SenderCircuits)
	for i := range list {
		list[i].Counted = 0
	}
	s.keep(list)
}

// setSender changes the circuit of a sender, in a copy of the list: a State is immutable.
func (s *State) setSender(sender string, change func(*SenderCircuit)) {
	if sender == "" {
		return
	}
	list := slices.Clone(s.SenderCircuits)
	i, there := s.findSender(sender)
	if !there {
		list = slices.Insert(list, i, SenderCircuit{Sender: sender})
	}
	change(&list[i])
	s.keep(list)
}

// keep sets the circuits of senders, without those that say nothing and without what is too much.
func (s *State) keep(list []SenderCircuit) {
	list = slices.DeleteFunc(list, func(p SenderCircuit) bool { return !p.Circuit.Open && p.Circuit.Failures == 0 && p.Counted == 0 })
	if len(list) > MaxSenderCircuits {
		oldest := slices.MinFunc(list, func(x, y SenderCircuit) int { return cmp.Compare(x.Circuit.LastCause, y.Circuit.LastCause) })
		if !s.Circuit.Open {
			s.Circuit.Failures -= oldest.Counted
		}
		list = slices.DeleteFunc(list, func(p SenderCircuit) bool { return p.Sender == oldest.Sender })
	}
	if len(list) == 0 {
		list = nil
	}
	s.SenderCircuits = list
}
