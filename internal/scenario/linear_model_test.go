package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"

	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/refusal"
)

// The sequential specification of who owns a task, for one caller at a time. It is written from the requirements and
// shares no code with the rules, so that a rule that is wrong disagrees with it as surely as a race that is lost.

// verb is what a client asks for.
type verb string

const (
	vCreate    verb = "create"
	vRead      verb = "read"
	vSend      verb = "send"
	vAccept    verb = "accept"
	vReject    verb = "reject"
	vWithdraw  verb = "withdraw"
	vConfirm   verb = "confirm"
	vProgress  verb = "progress"
	vHeartbeat verb = "heartbeat"
	vComplete  verb = "complete"
	vReplay    verb = "replay"
	vTick      verb = "tick"
)

// wish is one call: the input of an operation.
type wish struct {
	verb     verb
	agent    string
	epoch    uint64
	n, offer int
	to       string // receivers, with commas
	claim    bool
	explicit bool
	text     string // of a progress note or a result; each call's is its own
}

func (w wish) String() string {
	switch w.verb {
	case vRead, vTick, vCreate, vReplay:
		return string(w.verb)
	case vAccept, vReject:
		return fmt.Sprintf("%s by %s of h%d/%d", w.verb, w.agent, w.n, w.offer)
	case vSend:
		return fmt.Sprintf("send by %s in e%d to %s, claim %t, explicit %t", w.agent, w.epoch, w.to, w.claim, w.explicit)
	default:
		return fmt.Sprintf("%s by %s in e%d of h%d %q", w.verb, w.agent, w.epoch, w.n, w.text)
	}
}

// answer is what came back: the output of an operation.
type answer struct {
	code    refusal.Code // of a refusal; Unknown leaves open whether it happened
	sight   sight
	wrote   bool // of a tick: it changed something
	maybe   bool // of a tick: it may have changed something
	partial bool // the sight is a receipt's, which does not show everything
}

func (a answer) String() string {
	switch {
	case a.code != "":
		return string(a.code)
	case a.sight == sight{}:
		return fmt.Sprintf("wrote %t, maybe %t", a.wrote, a.maybe)
	}
	s := a.sight
	return fmt.Sprintf("%s: %s in e%d, h%d/%d %s to %s%s, recovery %t, %q %q", s.State, s.Owner, s.Epoch, s.N, s.Offer, s.Stage, s.To, s.Receiver,
		s.Recovery, s.Note, s.Result)
}

// sight is what can be seen of a task.
type sight struct {
	State    fact.State
	Owner    string
	Epoch    uint64
	N        int // handoff
	Stage    fact.Stage
	Offer    int
	To       string // who holds the open offer
	Receiver string // who has accepted, and waits for the confirm
	Recovery bool
	Note     string
	Result   string
}

// brief is what a receipt shows of it.
func (s sight) brief() sight {
	s.Receiver, s.Recovery, s.Note, s.Result = "", false, "", ""
	return s
}

// spec is the state of the specification.
type spec struct {
	sight
	queue    string // who is offered the task next, in order
	explicit bool   // the source confirms
}

// partner is who stands in for each agent.
var partner = map[string]string{"anna": "bert", "bert": "anna", "cleo": "dora", "dora": "cleo"}

// step is the specification: the states that a wish may lead to, and why it is refused where it is.
func (s spec) step(w wish) (next []spec, no refusal.Code) {
	switch w.verb {
	case vCreate:
		return []spec{{sight: sight{State: fact.Executing, Owner: w.agent, Epoch: 1}}}, ""
	case vRead:
		return []spec{s}, ""
	case vTick:
		return s.expire(), ""
	case vAccept, vReject:
		if no = s.notOffered(w); no == "" {
			return []spec{s.respond(w)}, ""
		}
	case vReplay:
		if s.State == fact.Parked {
			s.State = fact.Executing
			return []spec{s}, ""
		}
		no = refusal.Conflict
	default:
		if no = s.notHeld(w); no == "" {
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

func (s spec) notOffered(w wish) refusal.Code {
	switch {
	case s.State.Final():
		return refusal.Conflict
	case w.n > s.N:
		return refusal.NotFound
	case w.n == s.N && s.Stage == fact.Offered && (w.offer == 0 || w.offer == s.Offer) && has(s.To, w.agent):
		return ""
	}
	return refusal.Expired
}

func (s spec) inFlight() bool { return s.Stage == fact.Offered || s.Stage == fact.Accepted }

// own is what the owner with the current epoch may do.
func (s spec) own(w wish) (spec, refusal.Code) {
	working := s.State == fact.Executing || s.inFlight() && s.Recovery
	switch {
	case w.verb == vSend && s.State == fact.Executing:
		return s.request(w), ""
	case w.verb == vWithdraw && s.inFlight() && w.n == s.N:
		return s.home(fact.Withdrawn), ""
	case w.verb == vConfirm && s.Stage == fact.Accepted && w.n == s.N:
		return s.move(), ""
	case w.verb == vHeartbeat && s.inFlight() && !s.Recovery:
		return s, ""
	case working && slices.Contains([]verb{vHeartbeat, vProgress, vComplete}, w.verb):
		if s.inFlight() {
			s = s.home(fact.Withdrawn) // a lost owner that comes back before anybody has taken over
		}
		switch w.verb {
		case vProgress:
			s.Note = w.text
		case vComplete:
			s.State, s.Result = fact.Completed, w.text
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
		if p := partner[a]; p != s.Owner && !has(w.to, p) {
			rest = append(rest, p)
		}
	}
	s.State, s.N, s.Offer, s.Recovery, s.explicit = fact.HandingOff, s.N+1, 0, false, w.explicit
	if w.claim {
		s.queue = strings.Join(rest, ",")
		return s.offer(strings.Join(targets, ","))
	}
	s.queue = strings.Join(append(targets, rest...), ",")
	return s.next(fact.Undeliverable)
}

func (s spec) offer(to string) spec {
	s.To, s.Offer, s.Stage = to, s.Offer+1, fact.Offered
	return s
}

// next offers to the next in the queue, or ends the handoff if there is nobody.
func (s spec) next(end fact.Stage) spec {
	if s.queue != "" {
		first, rest, _ := strings.Cut(s.queue, ",")
		s.queue = rest
		return s.offer(first)
	}
	if s.Recovery {
		s = s.home(fact.DeadLettered)
		s.State = fact.Parked
		return s
	}
	return s.home(end)
}

// home ends a handoff with the task where it was.
func (s spec) home(end fact.Stage) spec {
	s.State, s.Stage, s.To, s.Receiver, s.queue, s.explicit = fact.Executing, end, "", "", "", false
	return s
}

// move is the only change of owner.
func (s spec) move() spec {
	s.Owner = s.Receiver
	s.Epoch++
	return s.home(fact.Transferred)
}

// respond is a receiver's answer to an offer that it holds.
func (s spec) respond(w wish) spec {
	if w.verb == vAccept {
		s.To, s.Receiver, s.Stage = "", w.agent, fact.Accepted
		if s.explicit {
			return s
		}
		return s.move()
	}
	s.To = strings.Join(slices.DeleteFunc(strings.Split(s.To, ","), func(a string) bool { return a == w.agent }), ",")
	if s.To != "" {
		return s
	}
	return s.next(fact.Rejected)
}

// expire is what a clock does that is due. Which clock runs follows from the state; when it is due does not.
func (s spec) expire() []spec {
	switch {
	case s.Stage == fact.Offered:
		return []spec{s.next(fact.Undeliverable)}
	case s.Stage == fact.Accepted: // back to the source, or on to the receiver if the source's lease is over too
		return []spec{s.home(fact.Expired), s.move()}
	case s.State == fact.Executing:
		s.State, s.N, s.Offer, s.Recovery, s.explicit = fact.HandingOff, s.N+1, 0, true, false
		s.queue = partner[s.Owner] + "," + s.Owner
		return []spec{s.next("")}
	}
	return nil
}

// explain is every state in which the task may be after a wish that got an answer. None: the answer is wrong.
func (s spec) explain(w wish, a answer) []any {
	next, no := s.step(w)
	switch {
	case w.verb == vTick:
		return s.explainTick(next, a)
	case a.code == refusal.Unknown && no != "":
		return []any{s}
	case a.code == refusal.Unknown: // that it never happens is that it happens after everything else
		return states(next)
	case a.code != "":
		invisible := a.code == refusal.NotFound && w.agent != s.Owner && !has(s.To, w.agent)
		if no != "" && (a.code == no || invisible) {
			return []any{s}
		}
		return nil
	case no != "":
		return nil
	}
	seen := next[0].sight
	if a.partial {
		seen = seen.brief()
	}
	if seen != a.sight {
		return nil
	}
	return states(next)
}

func (s spec) explainTick(next []spec, a answer) []any {
	if a.wrote {
		return states(next)
	}
	if a.maybe {
		return append(states(next), s)
	}
	return []any{s} // the clocks were not due yet
}

func states(list []spec) []any {
	all := make([]any, len(list))
	for i, s := range list {
		all[i] = s
	}
	return all
}

// has reports whether a list with commas holds a name.
func has(list, name string) bool { return slices.Contains(strings.Split(list, ","), name) }

// ownership is the specification for porcupine.
var ownership = func() porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init:  func() []any { return []any{spec{}} },
		Step:  func(state, in, out any) []any { return state.(spec).explain(in.(wish), out.(answer)) }, //nolint:errcheck // as recorded
		Equal: func(a, b any) bool { return a == b },
	}
	return m.ToModel()
}()
