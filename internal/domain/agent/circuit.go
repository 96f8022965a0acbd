package agent

import (
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
	Success       Outcome = "success"        // the agent accepted it, or finished the task
)

// Valid reports whether o is a known outcome.
func (o Outcome) Valid() bool { return o == Success || o.Failed() }

// Failed reports whether o counts as a failure.
func (o Outcome) Failed() bool { return o == DeliveryError || o == Unanswered || o == LeaseLost }

// Circuit is the stored part of an agent's circuit breaker. Ask [CircuitAt] what it means now.
type Circuit struct {
	Failures   int       `json:"failures,omitempty"` // in a row
	Open       bool      `json:"open,omitempty"`     // open or half-open: which, is a matter of time
	OpenedAt   time.Time `json:"opened_at,omitzero"`
	ResetAt    time.Time `json:"reset_at,omitzero"` // when the first probe may try
	Probe      string    `json:"probe,omitempty"`   // handoff that last claimed the probe
	ProbeAt    time.Time `json:"probe_at,omitzero"`
	ProbeUntil time.Time `json:"probe_until,omitzero"`
	LastCause  uint64    `json:"last_cause,omitempty"` // ledger position of the last outcome that counted
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
	Probe   string    `json:"probe,omitempty"`   // handoff whose probe is out; only in HalfOpen
	ResetAt time.Time `json:"reset_at,omitzero"` // when a probe may be claimed; zero if at once
}

// Admits reports whether a new offer may be made, in HalfOpen after ClaimProbe.
func (r Reading) Admits() bool { return r.ResetAt.IsZero() }

// CircuitAt reads an agent's circuit at the time now.
func CircuitAt(s State, now time.Time) Reading {
	c := s.Circuit
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

// within reports whether a period that began at from and ends at until is still running. A clock that was set back
// further than the period is long ends it: otherwise an hour's jump would keep a circuit open for an hour.
func within(now, from, until time.Time) bool {
	return now.Before(until) && from.Sub(now) < until.Sub(from)
}

// Worth reports whether an outcome changes the circuit: the many successes of a healthy agent need no entry.
func Worth(s State, c ReportOutcome) bool {
	return c.Outcome.Valid() && circuitActionFor(s, c, time.Time{}) != Ignore
}

func decideOutcome(s State, c ReportOutcome, now time.Time) ([]Event, error) {
	if !c.Outcome.Valid() {
		return nil, refusal.New(refusal.Invalid, `use "delivery_error", "unanswered", "lease_lost" or "success"`,
			"unknown outcome %s", strconv.QuoteToASCII(string(c.Outcome)))
	}
	switch circuitActionFor(s, c, now) {
	case Count:
		return []Event{FailureCounted{c.Cause, c.Outcome, c.Task, c.Handoff, s.Circuit.Failures + 1}}, nil
	case Clear:
		return []Event{FailuresCleared{c.Cause, c.Task, c.Handoff}}, nil
	case Break:
		now = now.UTC()
		return []Event{CircuitOpened{
			Cause: c.Cause, Outcome: c.Outcome, Task: c.Task, Handoff: c.Handoff,
			Failures: s.Circuit.Failures + 1, At: now, ResetAt: now.Add(s.Spec.Breaker.OpenFor),
		}}, nil
	case Close:
		return []Event{CircuitClosed{c.Cause, c.Task, c.Handoff}}, nil
	default:
		return nil, nil
	}
}

func decideClaim(s State, c ClaimProbe, now time.Time) ([]Event, error) {
	if c.Handoff == "" {
		return nil, refusal.New(refusal.Invalid, "name the handoff", "a probe was claimed for no handoff")
	}
	switch circuitActionFor(s, c, now) {
	case Admit:
		now = now.UTC()
		return []Event{ProbeClaimed{c.Handoff, now, now.Add(s.Spec.Breaker.OpenFor)}}, nil
	case Refuse:
		return nil, RefuseOpen(s, now)
	default:
		return nil, nil
	}
}

func decideReset(s State, now time.Time) ([]Event, error) {
	if circuitActionFor(s, ResetCircuit{}, now) == Reset {
		return []Event{CircuitReset{}}, nil
	}
	return nil, nil
}

// RefuseOpen is the refusal (circuit_open) of an agent whose circuit does not admit an offer at the time now.
func RefuseOpen(s State, now time.Time) *refusal.Error {
	r := CircuitAt(s, now)
	at := r.ResetAt.UTC().Format(time.RFC3339)
	why := "its circuit is open after " + strconv.Itoa(s.Circuit.Failures) + " failures in a row"
	if r.Phase == HalfOpen {
		why = "its circuit is half-open and the one probe is out"
	}
	return refusal.New(refusal.CircuitOpen, "try again after "+at+", or hand off to another agent",
		"agent %s gets no offers now: %s; it resets at %s", s.Name, why, at).
		With("agent", s.Name).With("reset_at", at)
}

// fold moves a circuit by its own events and leaves it alone at all others.
func (c Circuit) fold(e Event) Circuit {
	switch e := e.(type) {
	case FailureCounted:
		c.Failures, c.LastCause = e.Failures, max(c.LastCause, e.Cause)
	case FailuresCleared:
		c.Failures, c.LastCause = 0, max(c.LastCause, e.Cause)
	case CircuitOpened:
		return Circuit{Failures: e.Failures, Open: true, OpenedAt: e.At, ResetAt: e.ResetAt, LastCause: max(c.LastCause, e.Cause)}
	case ProbeClaimed:
		c.Probe, c.ProbeAt, c.ProbeUntil = e.Handoff, e.At, e.Until
	case CircuitClosed:
		return Circuit{LastCause: max(c.LastCause, e.Cause)}
	case CircuitReset:
		return Circuit{LastCause: c.LastCause}
	}
	return c
}
