package erasure

import (
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/help"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// ByPolicy is the subject of what is erased by the retention policy.
const ByPolicy = "retention"

// Bounds of holds and erasures.
const (
	MaxHolds   = 1000  // at a time
	MaxWhy     = 500   // bytes of a reason
	MaxStreams = 5000  // of one erasure
	MaxFiles   = 5000  // digests that one erasure names
	MaxKept    = 100   // things that one erasure names as kept
	remembered = 1_000 // finished erasures that the state remembers
)

// Erasure is an erasure with its end.
type Erasure struct {
	Erased
	Finished *Finished // nil: it is pending
}

// State is the holds and erasures of a workspace. It is immutable. The zero State has none.
type State struct {
	Holds    []HoldSet // by subject
	Erasures []Erasure // the oldest first; of those that are finished the newest
	made     int
}

// Command asks for a change. The set is sealed.
type Command interface{ command() }

// SetHold begins a legal hold.
type SetHold struct {
	By      identity.Principal
	Subject Subject
	Why     string
}

// LiftHold ends a legal hold.
type LiftHold struct {
	By      identity.Principal
	Subject Subject
	Why     string
}

// Erase erases what a subject names.
type Erase struct {
	By      identity.Principal
	Subject Subject
	Why     string
	Names   []Subject // every subject that names some of it
	Streams []string
	Files   []string
	Left    int
	Kept    []string
	Until   time.Time // until which the retention policy keeps some of it; zero: it keeps none
	Keeps   string    // the stream that it keeps
}

// Expire erases what the retention policy keeps no longer, and on which there is no hold. It is for the server itself.
type Expire struct {
	By      identity.Principal
	Policy  string // its digest; empty: there is none any more
	Streams []string
	Files   []string
	Left    int
}

// Finish ends an erasure. It is for the server itself.
type Finish struct{ Finished }

func (SetHold) command()  {}
func (LiftHold) command() {}
func (Erase) command()    {}
func (Expire) command()   {}
func (Finish) command()   {}

// Decide returns the events of a command at the time now. Refusals: unauthenticated and not_permitted for principals that are no
// operators, invalid and too_large for what breaks a rule on its own, conflict for what is held or already held, not_found for a hold that is not
// there, limit for one hold too many.
func Decide(s State, c Command, now time.Time) ([]Event, error) {
	now = now.UTC()
	switch c := c.(type) {
	case SetHold:
		return decideSet(s, c, now)
	case LiftHold:
		if err := may(c.By, "lift a legal hold", c.Why); err != nil {
			return nil, err
		}
		if s.hold(c.Subject) < 0 {
			return nil, refusal.New(refusal.NotFound, "[list the holds](hold list)", "there is no legal hold on %s", c.Subject)
		}
		return []Event{HoldLifted{c.Subject.String(), c.Why, c.By.String(), now}}, nil
	case Erase:
		return decideErase(s, c, now)
	case Expire:
		if c.By.Role != identity.System {
			return nil, refusal.New(refusal.NotPermitted, "", "%s may not apply the retention policy", c.By.Short())
		}
		why := "it was forgotten, and is kept no longer"
		if c.Policy != "" {
			why = "retention by the policy " + c.Policy
		}
		return []Event{Erased{s.made + 1, ByPolicy, why, c.Streams, c.Files[:min(len(c.Files), MaxFiles)], c.Left, nil, c.By.String(), now}}, nil
	case Finish:
		i := slices.IndexFunc(s.Erasures, func(e Erasure) bool { return e.N == c.N })
		if i < 0 || s.Erasures[i].Finished != nil {
			return nil, nil
		}
		c.At = now
		return []Event{c.Finished}, nil
	}
	return nil, refusal.New(refusal.Invalid, "", "unknown command %T", c)
}

// may refuses principals that are no operators, and a change without a reason.
func may(by identity.Principal, what, why string) error {
	if by.IsZero() {
		return refusal.New(refusal.Unauthenticated, "send a token", "no credential")
	}
	if err := identity.Require(by, identity.ActAny, what); err != nil {
		return err
	}
	if strings.TrimSpace(why) == "" {
		return refusal.New(refusal.Invalid, "say why; the record keeps it", "there is no reason")
	}
	return event.CheckText("a reason", why, MaxWhy)
}

func decideSet(s State, c SetHold, now time.Time) ([]Event, error) {
	if err := may(c.By, "set a legal hold", c.Why); err != nil {
		return nil, err
	}
	if i := s.hold(c.Subject); i >= 0 {
		return nil, refusal.New(refusal.Conflict, "it needs no other", "there is a legal hold on %s since %s", c.Subject, s.Holds[i].At.Format(time.DateOnly))
	}
	if len(s.Holds) >= MaxHolds {
		return nil, refusal.New(refusal.Limit, "[lift](hold lift) those that are over", "there are %d legal holds already", len(s.Holds))
	}
	return []Event{HoldSet{c.Subject.String(), c.Why, c.By.String(), now}}, nil
}

func decideErase(s State, c Erase, now time.Time) ([]Event, error) {
	if err := may(c.By, "erase content", c.Why); err != nil {
		return nil, err
	}
	for _, of := range append([]Subject{c.Subject}, c.Names...) {
		if i := s.hold(of); i >= 0 {
			return nil, refusal.New(refusal.Conflict, "erase it when "+help.To("the hold is lifted", "hold lift", of.String(), "why"),
				"a legal hold on %s, which %s set on %s, keeps %s", of, s.Holds[i].By, s.Holds[i].At.Format(time.DateOnly), c.Subject)
		}
	}
	if now.Before(c.Until) {
		return nil, refusal.New(refusal.Conflict, "erase it then, or change the rules under retention in the policy",
			"the retention policy keeps %s until %s", c.Keeps, c.Until.UTC().Format(time.RFC3339))
	}
	if len(c.Streams) > MaxStreams || len(c.Files) > MaxFiles {
		return nil, refusal.New(refusal.TooLarge, "erase parts of it, such as its tasks one by one",
			"%d tasks, conversations and memory items with %d files are too many for one erasure, of at most %d", len(c.Streams), len(c.Files), MaxStreams)
	}
	kept := c.Kept[:min(len(c.Kept), MaxKept)]
	return []Event{Erased{s.made + 1, c.Subject.String(), c.Why, c.Streams, c.Files, c.Left, kept, c.By.String(), now}}, nil
}

// hold is the place of the hold of a subject, below 0 if there is none.
func (s State) hold(of Subject) int {
	return slices.IndexFunc(s.Holds, func(h HoldSet) bool { return h.Subject == of.String() })
}

// Held reports whether a hold is on one of some subjects.
func (s State) Held(names map[Subject]bool) bool {
	return slices.ContainsFunc(s.Holds, func(h HoldSet) bool {
		kind, name, _ := strings.Cut(h.Subject, "/")
		return names[Subject{Kind(kind), name}]
	})
}

// Pending returns the erasures that are not finished.
func (s State) Pending() (list []Erasure) {
	for _, e := range s.Erasures {
		if e.Finished == nil {
			list = append(list, e)
		}
	}
	return list
}

// Fold returns the state after an event.
func Fold(s State, e Event) State {
	switch e := e.(type) {
	case HoldSet:
		s.Holds = append(slices.Clip(s.Holds), e)
	case HoldLifted:
		s.Holds = slices.DeleteFunc(slices.Clone(s.Holds), func(h HoldSet) bool { return h.Subject == e.Subject })
	case Erased:
		s.Erasures, s.made = append(slices.Clip(s.Erasures), Erasure{Erased: e}), e.N
	case Finished:
		s.Erasures = slices.Clone(s.Erasures)
		for i := range s.Erasures {
			if s.Erasures[i].N == e.N {
				s.Erasures[i].Finished = &e
			}
		}
		if i := slices.IndexFunc(s.Erasures, func(o Erasure) bool { return o.Finished != nil }); len(s.Erasures) > remembered && i >= 0 {
			s.Erasures = slices.Delete(s.Erasures, i, i+1)
		}
	}
	return s
}
