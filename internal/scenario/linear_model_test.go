//go:build slow || outside

package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// The calls of clients and their answers, and how the specification judges them.

// verb is the kind of a call.
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
	State    event.State
	Owner    string
	Epoch    uint64
	N        int // handoff
	Stage    event.Stage
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
		Step:  func(state, in, out any) []any { return state.(spec).explain(in.(wish), out.(answer)) },
		Equal: func(a, b any) bool { return a == b },
	}
	return m.ToModel()
}()
