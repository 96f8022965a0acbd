package agent

import "github.com/trapezehq/trapeze/internal/domain/event"

// Fold returns the state after an event. It never refuses; events of other packages change nothing.
func Fold(s State, e Event) State {
	switch e := e.(type) {
	case Registered:
		// LastCause outlives the agent: an outcome of its former life must not count against the new one.
		return State{
			Name: event.AgentID(e.Name, e.Registration), Registration: e.Registration, Spec: e.Spec, Said: Ready, RegisteredAt: e.At,
			Circuit: Circuit{LastCause: s.Circuit.LastCause},
		}
	case Updated:
		s.Spec = e.Spec
		s.Lapsed = s.Lapsed && e.Spec.PresenceTTL > 0
	case Removed:
		s.Removed = true
	case ReadinessChanged:
		s.Off = dutyRule(s, dutyTriggerOf(e.To, e.By)).Become == OffDuty
		s.Said, s.Lapsed = e.To, false
	case PresenceLapsed:
		s.Lapsed = true
	case PresenceReturned:
		s.Lapsed = false
	default:
		s = s.foldCircuit(e)
	}
	return s
}
