//go:build slow || outside

package scenario

import (
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// The sequential specification of who owns a task, for one caller at a time. It is written from the requirements and
// shares no code with the rules, so that a rule that is wrong disagrees with it as surely as a race that is lost.

// spec is the state of the specification.
type spec struct {
	sight
	queue    string // who is offered the task next, in order
	explicit bool   // the source confirms
}

// partner is who stands in for an agent; nobody does for those who stand in themselves, since that would lead back.
var partner = map[string]string{"anna": "bert", "cleo": "dora"}

// step is the specification: the states that a wish may lead to, and why it is refused where it is.
func (s spec) step(w wish) (next []spec, no refusal.Code) {
	switch w.verb {
	case vCreate:
		return []spec{{sight: sight{State: event.Executing, Owner: w.agent, Epoch: 1}}}, ""
	case vRead:
		return []spec{s}, ""
	case vTick:
		return s.expire(), ""
	case vAccept, vReject:
		if no = s.notOffered(w); no == "" {
			return []spec{s.respond(w)}, ""
		}
	case vReplay:
		if s.State == event.Parked {
			s.State = event.Executing
			return []spec{s}, ""
		}
		no = refusal.Conflict
	default:
		if w.verb == vWithdraw || w.verb == vConfirm {
			no = s.over(w)
		}
		if no == "" {
			no = s.notHeld(w)
		}
		if no == "" {
			s, no = s.own(w)
			return []spec{s}, no
		}
	}
	return nil, no
}

func (s spec) notHeld(w wish) refusal.Code {
	switch {
	case s.State.Final():
		return refusal.Conflict
	case s.Owner != w.agent:
		return refusal.NotOwner
	case s.Epoch != w.epoch:
		return refusal.StaleEpoch
	}
	return ""
}

// over is why it is too late for a handoff, for any caller.
func (s spec) over(w wish) refusal.Code {
	switch {
	case s.State.Final():
		return refusal.Conflict
	case w.n > s.N || w.n < 1:
		return refusal.NotFound
	case w.n < s.N || !s.inFlight():
		return refusal.Expired
	}
	return ""
}

func (s spec) notOffered(w wish) refusal.Code {
	switch {
	case s.State.Final():
		return refusal.Conflict
	case w.n > s.N:
		return refusal.NotFound
	case w.n == s.N && s.Stage == event.Offered && (w.offer == 0 || w.offer == s.Offer) && has(s.To, w.agent):
		return ""
	}
	return refusal.Expired
}

func (s spec) inFlight() bool { return s.Stage == event.Offered || s.Stage == event.Accepted }

// own is what the owner with the current epoch may do.
func (s spec) own(w wish) (spec, refusal.Code) {
	working := s.State == event.Executing || s.inFlight() && s.Recovery
	switch {
	case w.verb == vSend && s.State == event.Executing:
		return s.request(w), ""
	case w.verb == vWithdraw && s.inFlight() && w.n == s.N:
		return s.home(event.Withdrawn), ""
	case w.verb == vConfirm && s.Stage == event.Accepted && w.n == s.N:
		return s.move(), ""
	case w.verb == vHeartbeat && s.inFlight() && !s.Recovery:
		return s, ""
	case working && slices.Contains([]verb{vHeartbeat, vProgress, vComplete}, w.verb):
		if s.inFlight() {
			s = s.home(event.Withdrawn) // a lost owner that comes back before anybody has taken over
		}
		switch w.verb {
		case vProgress:
			s.Note = w.text
		case vComplete:
			s.State, s.Result = event.Completed, w.text
		default: // a heartbeat shows life and says nothing
		}
		return s, ""
	}
	return s, refusal.Conflict
}

// request makes a handoff with its first offer: the receivers that are named, then those who stand in for them.
func (s spec) request(w wish) spec {
	var targets, rest []string
	for _, a := range strings.Split(w.to, ",") {
		if a != s.Owner {
			targets = append(targets, a)
		}
	}
	for _, a := range strings.Split(w.to, ",") {
		if p := partner[a]; p != "" && p != s.Owner && !has(w.to, p) {
			rest = append(rest, p)
		}
	}
	s.State, s.N, s.Offer, s.Recovery, s.explicit = event.HandingOff, s.N+1, 0, false, w.explicit
	if w.claim {
		s.queue = strings.Join(rest, ",")
		return s.offer(strings.Join(targets, ","))
	}
	s.queue = strings.Join(append(targets, rest...), ",")
	return s.next(event.Undeliverable)
}

func (s spec) offer(to string) spec {
	s.To, s.Offer, s.Stage = to, s.Offer+1, event.Offered
	return s
}

// next offers to the next in the queue, or ends the handoff if there is nobody.
func (s spec) next(end event.Stage) spec {
	if s.queue != "" {
		first, rest, _ := strings.Cut(s.queue, ",")
		s.queue = rest
		return s.offer(first)
	}
	if s.Recovery {
		s = s.home(event.DeadLettered)
		s.State = event.Parked
		return s
	}
	return s.home(end)
}

// home ends a handoff with the task where it was.
func (s spec) home(end event.Stage) spec {
	s.State, s.Stage, s.To, s.Receiver, s.queue, s.explicit = event.Executing, end, "", "", "", false
	return s
}

// move is the only change of owner.
func (s spec) move() spec {
	s.Owner = s.Receiver
	s.Epoch++
	return s.home(event.Transferred)
}

// respond is a receiver's answer to an offer that it holds.
func (s spec) respond(w wish) spec {
	if w.verb == vAccept {
		s.To, s.Receiver, s.Stage = "", w.agent, event.Accepted
		if s.explicit {
			return s
		}
		return s.move()
	}
	s.To = strings.Join(slices.DeleteFunc(strings.Split(s.To, ","), func(a string) bool { return a == w.agent }), ",")
	if s.To != "" {
		return s
	}
	return s.next(event.Rejected)
}

// expire is what a clock does that is due. Which clock runs follows from the state; when it is due does not.
func (s spec) expire() []spec {
	switch {
	case s.Stage == event.Offered:
		return []spec{s.next(event.Undeliverable)}
	case s.Stage == event.Accepted: // back to the source, or on to the receiver if the source's lease is over too
		return []spec{s.home(event.Expired), s.move()}
	case s.State == event.Executing:
		s.State, s.N, s.Offer, s.Recovery, s.explicit = event.HandingOff, s.N+1, 0, true, false
		s.queue = strings.TrimPrefix(partner[s.Owner]+","+s.Owner, ",")
		return []spec{s.next("")}
	}
	return nil
}
