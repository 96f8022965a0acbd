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
	// Counted are those of its failures that count in the shared circuit: since anybody's last success. CountedLost are those of them that
	// lost a lease.
	Counted     int `json:"counted,omitempty"`
	CountedLost int `json:"counted_lost,omitempty"`
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

// count notes a failure of a sender's handoff, in its circuit and, once for each while that was closed, in the shared one. Without a
// sender, it counts in the shared one alone. The shared circuit has to be closed then.
func (s *State) count(sender string, o Outcome, to Circuit) {
	lost := 0
	if o == LeaseLost {
		lost = 1
	}
	s.Circuit.LastCause = max(s.Circuit.LastCause, to.LastCause)
	if sender == "" {
		s.Circuit.Failures, s.Circuit.Lost = to.Failures, s.Circuit.Lost+lost
		return
	}
	s.setSender(sender, func(p *SenderCircuit) {
		if !p.Circuit.Open && !s.Circuit.Open {
			p.Counted, p.CountedLost = p.Counted+1, p.CountedLost+lost
			s.Circuit.Failures, s.Circuit.Lost = s.Circuit.Failures+1, s.Circuit.Lost+lost
		}
		to.Lost = p.Circuit.Lost + lost
		if !to.Open {
			to.OnTrial, to.OpenedAt = p.Circuit.OnTrial, p.Circuit.OpenedAt
		}
		p.Circuit = to
	})
}

// succeed notes a success. An acceptance ends the failures in a row of the agent, and of the sender, but for the leases that were lost: an
// agent that accepts what it is offered, and then dies, has not shown that it works. The end of a task shows that, of any sender.
func (s *State) succeed(e FailuresCleared) {
	s.Circuit.LastCause = max(s.Circuit.LastCause, e.Cause)
	if e.Outcome == Ended {
		s.Circuit.ended()
		s.each(func(p *SenderCircuit) {
			p.Counted, p.CountedLost = p.Counted-p.CountedLost, 0
			p.Circuit.ended()
		})
		return
	}
	s.setSender(e.Sender, func(p *SenderCircuit) { p.Circuit.accepted(e.Outcome) })
	if s.Circuit.Open {
		return
	}
	s.Circuit.accepted(e.Outcome)
	s.each(func(p *SenderCircuit) {
		if e.Outcome != Accepted {
			p.CountedLost = 0
		}
		p.Counted = p.CountedLost
	})
}

// accepted ends the failures but for lost leases; in an older record, which has no outcome, those too.
func (c *Circuit) accepted(o Outcome) {
	switch {
	case c.Open:
	case o == Accepted:
		trial := *c
		*c = Circuit{Failures: c.Lost, Lost: c.Lost, LastCause: c.LastCause}
		if trial.OnTrial > 0 {
			c.OnTrial, c.OpenedAt = trial.OnTrial, trial.OpenedAt
		}
	default:
		*c = Circuit{LastCause: c.LastCause}
	}
}

// ended ends the failures that lost leases are, and the trial.
func (c *Circuit) ended() {
	if !c.Open {
		c.Failures, c.Lost = c.Failures-c.Lost, 0
		c.OnTrial, c.OpenedAt = 0, time.Time{}
	}
}

// forget ends the count of each sender's failures in the shared circuit.
func (s *State) forget() {
	s.each(func(p *SenderCircuit) { p.Counted, p.CountedLost = 0, 0 })
}

// each changes the circuits of all senders, in a copy of the list.
func (s *State) each(change func(*SenderCircuit)) {
	list := slices.Clone(s.SenderCircuits)
	for i := range list {
		change(&list[i])
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
	list = slices.DeleteFunc(list, func(p SenderCircuit) bool {
		return !p.Circuit.Open && p.Circuit.OnTrial == 0 && p.Circuit.Failures == 0 && p.Counted == 0
	})
	if len(list) > MaxSenderCircuits {
		oldest := slices.MinFunc(list, func(x, y SenderCircuit) int { return cmp.Compare(x.Circuit.LastCause, y.Circuit.LastCause) })
		if !s.Circuit.Open {
			s.Circuit.Failures, s.Circuit.Lost = s.Circuit.Failures-oldest.Counted, s.Circuit.Lost-oldest.CountedLost
		}
		list = slices.DeleteFunc(list, func(p SenderCircuit) bool { return p.Sender == oldest.Sender })
	}
	if len(list) == 0 {
		list = nil
	}
	s.SenderCircuits = list
}
