package agent

import (
	"strconv"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Decide returns the events of a command on an agent at the time now. No events and no error mean that nothing changes. Refusals: invalid for what breaks a rule on its own, not_found for an agent that is not registered,
// circuit_open for a probe that may not start, not_permitted for a readiness that somebody else sets, conflict for an agent that
// is off duty and says it is ready.
func Decide(s State, c Command, now time.Time) ([]Event, error) {
	if s.Name != "" && event.AgentName(c.agent()) != event.AgentName(s.Name) {
		return nil, refusal.New(refusal.Invalid, "load the agent that the command names",
			"a command for agent %s reached agent %s", strconv.QuoteToASCII(c.agent()), s.Name)
	}
	switch c := c.(type) {
	case Register:
		return decideRegister(s, c, now)
	case ReportOutcome: // also for agents that are gone: a late report is no mistake
		if s.Name != "" && c.Name != s.Name { // it is of another registration
			return nil, nil
		}
		return decideOutcome(s, c, now)
	}
	if !s.Exists() || !s.goesBy(c.agent()) {
		return nil, notRegistered(c.agent())
	}
	switch c := c.(type) {
	case SetReadiness:
		return decideReadiness(s, c)
	case LapsePresence:
		return decideLapse(s, c, now)
	case ReturnPresence:
		return decideReturn(s, c)
	case Remove:
		return []Event{Removed{}}, nil
	case ClaimProbe:
		return decideClaim(s, c, now)
	case ResetCircuit:
		return decideReset(s, now)
	}
	return nil, refusal.New(refusal.Invalid, "", "unknown command %T", c)
}

// goesBy reports whether a command means this agent, and not another registration of its name.
func (s State) goesBy(name string) bool {
	_, n := event.ParseAgent(name)
	return n == 0 || n == max(s.Registration, 1)
}

func notRegistered(name string) error {
	return refusal.New(refusal.NotFound, "[list the agents](agent list) to see who is registered",
		"agent %s is not registered", strconv.QuoteToASCII(name))
}

func decideRegister(s State, c Register, now time.Time) ([]Event, error) {
	if err := event.CheckName("agent name", c.Name); err != nil {
		return nil, err
	}
	spec := c.Spec.normal()
	if err := spec.check(c.Name); err != nil {
		return nil, err
	}
	if !s.Exists() {
		if err := checkReserved(c.Name); err != nil {
			return nil, err
		}
	}
	switch {
	case s.Removed:
		return []Event{Registered{Name: c.Name, Spec: spec, At: now.UTC(), Registration: max(s.Registration, 1) + 1}}, nil
	case !s.Exists():
		return []Event{Registered{Name: c.Name, Spec: spec, At: now.UTC()}}, nil
	case s.Spec.equal(spec):
		return nil, nil
	default:
		return []Event{Updated{Spec: spec}}, nil
	}
}

func decideReadiness(s State, c SetReadiness) ([]Event, error) {
	if !Readinesses.Has(c.Readiness) {
		return nil, refusal.New(refusal.Invalid, `use "ready", "busy", "draining" or "offline"`,
			"unknown readiness %s", strconv.QuoteToASCII(string(c.Readiness)))
	}
	author := ByOperator
	switch {
	case c.By.Agent() == s.Name:
		author = ByAgent
	case !c.By.IsOperator():
		return nil, refusal.New(refusal.NotPermitted, "ask the agent or an operator", "%s may not say whether agent %s is ready", c.By, s.Name)
	}
	rule := dutyRule(s, dutyTriggerOf(c.Readiness, author))
	if !rule.Taken {
		return nil, refusal.New(refusal.Conflict, "ask an operator to [make it ready again](agent ready); until then, finish what you hold",
			"an operator has taken agent %s off duty: its own word does not make it ready", s.Name)
	}
	if s.Said == c.Readiness && !s.Lapsed && s.Duty() == rule.Become {
		return nil, nil
	}
	return []Event{ReadinessChanged{From: s.Readiness(), To: c.Readiness, By: author}}, nil
}

func decideLapse(s State, c LapsePresence, now time.Time) ([]Event, error) {
	due := s.Spec.PresenceTTL > 0 && !now.Before(c.LastHeard.Add(s.Spec.PresenceTTL))
	if !due || s.Readiness() == Offline {
		return nil, nil
	}
	return []Event{PresenceLapsed{LastHeard: c.LastHeard.UTC()}}, nil
}

func decideReturn(s State, c ReturnPresence) ([]Event, error) {
	switch {
	case s.Lapsed:
		return []Event{PresenceReturned{Readiness: s.Said}}, nil
	case c.Connected && !s.keepsPresence():
		spec := s.Spec.normal()
		spec.PresenceTTL = DefaultPresence
		return []Event{Updated{Spec: spec}}, nil
	}
	return nil, nil
}
