package agent

import (
	"slices"
	"strconv"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Outcome is how an offer to an agent, or its lease on a task, ended. Rejections, offers that
// were not seen and claims that were not accepted say nothing about an agent's health and are not outcomes.
type Outcome string

// The outcomes.
const (
	DeliveryError Outcome = "delivery_error" // a push could not be delivered
	Unanswered    Outcome = "unanswered"     // an offer was seen and not answered in time
	LeaseLost     Outcome = "lease_lost"     // the agent stopped while it owned a task
	Accepted      Outcome = "accepted"       // the agent accepted the offer
	Ended         Outcome = "ended"          // the agent completed a task that it owned, gave it up or handed it on
)

// Valid reports whether o is a known outcome.
func (o Outcome) Valid() bool { return o == Accepted || o == Ended || o.Failed() }

// Failed reports whether o counts as a failure.
func (o Outcome) Failed() bool { return o == DeliveryError || o == Unanswered || o == LeaseLost }

// Circuit is the stored part of a circuit breaker: of an agent's shared one, or of the one between a sender and the agent
// ([SenderCircuit]). Ask [CircuitAt] or [CircuitFor] what it means now.
type Circuit struct {
	Failures   int       `json:"failures,omitempty"` // in a row
	Lost       int       `json:"lost,omitempty"`     // of the failures, those that lost a lease: they count until the agent ends a task
	Open       bool      `json:"open,omitempty"`     // open or half-open: which, is a matter of time
	OpenedAt   time.Time `json:"opened_at,omitzero"`
	ResetAt    time.Time `json:"reset_at,omitzero"` // when the first probe may try
	Openers    []string  `json:"openers,omitempty"` // senders whose failures opened it: they may try a period later than the others
	Probe      string    `json:"probe,omitempty"`   // handoff that last claimed the probe
	ProbeAt    time.Time `json:"probe_at,omitzero"`
	ProbeUntil time.Time `json:"probe_until,omitzero"`
	// OnTrial is the number of failures with which it was open, of one that an accepted probe closed: until the agent ends a task. Offers are made as while
	// it is closed; people are told that it is half-open still, for the agent has shown that it answers, and not that it works.
	OnTrial   int    `json:"on_trial,omitempty"`
	LastCause uint64 `json:"last_cause,omitempty"` // ledger position of the last outcome that counted
}

// Phase is what a circuit lets through.
type Phase string

// The phases of a circuit.
const (
	Closed   Phase = "closed"    // everything
	Open     Phase = "open"      // nothing
	HalfOpen Phase = "half_open" // one probe
)

// Phases lists every phase of a circuit.
func Phases() []Phase { return []Phase{Closed, Open, HalfOpen} }

// Reading is a circuit at one moment.
type Reading struct {
	Phase   Phase     `json:"phase"`
	Sender  string    `json:"sender,omitempty"`  // the principal whose handoffs alone it concerns; empty: everybody's
	Probe   string    `json:"probe,omitempty"`   // handoff whose probe is out; only in HalfOpen
	ResetAt time.Time `json:"reset_at,omitzero"` // when a probe may be claimed; zero if at once
}

// PhaseAt is the phase of a circuit at the time now, as people are told of it: half-open also while the circuit is on trial.
func (c *Circuit) PhaseAt(now time.Time) Phase {
	if c.OnTrial > 0 {
		return HalfOpen
	}
	return c.at(now).Phase
}

// Admits reports whether a new offer may be made, in HalfOpen after ClaimProbe.
func (r Reading) Admits() bool { return r.ResetAt.IsZero() }

// CircuitAt reads an agent's shared circuit at the time now.
func CircuitAt(s State, now time.Time) Reading { return s.Circuit.at(now) }

// CircuitFor reads what an agent's circuits mean for one sender, a principal such as "agent/lead", at the time now: the shared
// circuit and the one between the two. Of two that admit no offer it gives the one that resets last. own are the handoffs
// for which it is asked: a probe that one of them has claimed is no obstacle.
func CircuitFor(s State, sender string, now time.Time, own ...string) Reading {
	shared := s.Circuit.atFor(sender, now).but(own)
	if len(s.SenderCircuits) == 0 || sender == "" {
		return shared
	}
	k := s.senderCircuit(sender)
	single := k.at(now).but(own)
	single.Sender = sender
	switch {
	case single.Phase == Closed || shared.ResetAt.After(single.ResetAt):
		return shared
	default:
		return single
	}
}

// but is r for the handoffs own.
func (r Reading) but(own []string) Reading {
	if r.Probe != "" && slices.Contains(own, r.Probe) {
		r.ResetAt = time.Time{}
	}
	return r
}

func (c *Circuit) at(now time.Time) Reading {
	switch {
	case !c.Open:
		return Reading{Phase: Closed}
	case within(now, c.OpenedAt, c.ResetAt):
		return Reading{Phase: Open, ResetAt: c.ResetAt}
	case c.Probe != "" && within(now, c.ProbeAt, c.ProbeUntil):
		return Reading{Phase: HalfOpen, Probe: c.Probe, ResetAt: c.ProbeUntil}
	default:
		return Reading{Phase: HalfOpen}
	}
}

// atFor is at for one sender. One whose failures opened the circuit leaves the probe to the others for a period: otherwise it
// could keep the circuit open for everybody by failing again.
func (c *Circuit) atFor(sender string, now time.Time) Reading {
	r := c.at(now)
	if r.Phase == HalfOpen && r.Probe == "" && slices.Contains(c.Openers, sender) {
		if later := c.ResetAt.Add(c.ResetAt.Sub(c.OpenedAt)); within(now, c.OpenedAt, later) {
			r.ResetAt = later
		}
	}
	return r
}

// within reports whether a period that began at from and ends at until is still running. A clock that was set back
// further than the period is long ends it: otherwise an hour's jump would keep a circuit open for an hour.
func within(now, from, until time.Time) bool {
	return now.Before(until) && from.Sub(now) < until.Sub(from)
}

// Worth reports whether an outcome changes a circuit: the many successes of a healthy agent need no entry.
func Worth(s State, c ReportOutcome) bool {
	if !c.Outcome.Valid() {
		return false
	}
	shared, single := actionsFor(&s, c, time.Time{})
	return shared != Ignore || single != Ignore
}

// decideOutcome moves the shared circuit and the one of the sender. One event counts, or clears, in both.
func decideOutcome(s State, c ReportOutcome, now time.Time) ([]Event, error) {
	if !c.Outcome.Valid() {
		return nil, refusal.New(refusal.Invalid, `use "delivery_error", "unanswered", "lease_lost", "accepted" or "ended"`,
			"unknown outcome %s", strconv.QuoteToASCII(string(c.Outcome)))
	}
	shared, single := actionsFor(&s, c, now)
	now = now.UTC()
	opened := CircuitOpened{
		Cause: c.Cause, Outcome: c.Outcome, Task: c.Task, Handoff: c.Handoff, At: now, ResetAt: now.Add(s.Spec.Breaker.OpenFor),
	}
	var events []Event
	switch {
	case single == Break:
		e := opened
		e.Sender, e.Failures = c.Sender, s.senderCircuit(c.Sender).Failures+1
		events = append(events, e)
	case single == Count:
		events = append(events, FailureCounted{c.Cause, c.Outcome, c.Task, c.Handoff, s.senderCircuit(c.Sender).Failures + 1, c.Sender})
	case shared == Count:
		events = append(events, FailureCounted{c.Cause, c.Outcome, c.Task, c.Handoff, s.Circuit.Failures + 1, ""})
	case single == Close:
		events = append(events, CircuitClosed{c.Cause, c.Task, c.Handoff, c.Sender, c.Outcome, s.senderCircuit(c.Sender).Failures})
	case single == Clear || shared == Clear:
		events = append(events, FailuresCleared{c.Cause, c.Task, c.Handoff, c.Sender, c.Outcome})
	}
	if shared == Break {
		opened.Failures, opened.Openers = s.Circuit.Failures+1, s.openers(c.blamed())
		events = append(events, opened)
	}
	if shared == Close {
		events = append(events, CircuitClosed{c.Cause, c.Task, c.Handoff, "", c.Outcome, s.Circuit.Failures})
	}
	return events, nil
}

func decideClaim(s State, c ClaimProbe, now time.Time) ([]Event, error) {
	if c.Handoff == "" {
		return nil, refusal.New(refusal.Invalid, "name the handoff", "a probe was claimed for no handoff")
	}
	shared, single := actionsFor(&s, c, now)
	if shared == Refuse || single == Refuse {
		return nil, RefuseOpen(s, c.Sender, now)
	}
	now = now.UTC()
	var events []Event
	if single == Admit {
		events = append(events, ProbeClaimed{c.Handoff, now, now.Add(s.Spec.Breaker.OpenFor), c.Sender})
	}
	if shared == Admit {
		events = append(events, ProbeClaimed{c.Handoff, now, now.Add(s.Spec.Breaker.OpenFor), ""})
	}
	return events, nil
}

func decideReset(s State, now time.Time) ([]Event, error) {
	if shared, _ := actionsFor(&s, ResetCircuit{}, now); shared == Reset || len(s.SenderCircuits) > 0 {
		return []Event{CircuitReset{}}, nil
	}
	return nil, nil
}

// RefuseOpen is the refusal (circuit_open) of an agent whose circuits do not admit an offer of a sender at the time now.
func RefuseOpen(s State, sender string, now time.Time) *refusal.Error {
	r := CircuitFor(s, sender, now)
	at := r.ResetAt.UTC().Format(time.RFC3339)
	what, failures := "its circuit", s.Circuit.Failures
	if r.Sender != "" {
		what, failures = "its circuit for handoffs of "+shortSender(r.Sender), s.senderCircuit(r.Sender).Failures
	}
	why := what + " is open after " + strconv.Itoa(failures) + " failures in a row"
	switch {
	case r.Phase == HalfOpen && r.Probe != "":
		why = what + " is half-open and the one probe is out"
	case r.Phase == HalfOpen:
		why = what + " is half-open, and the probe is left to senders whose failures did not open it"
	}
	return refusal.New(refusal.CircuitOpen, "try again after "+at+", or hand off to another agent",
		"agent %s gets no offers now: %s; it resets at %s", s.Name, why, at).
		With("agent", s.Name).With("reset_at", at).With("circuit", r.Scope())
}
