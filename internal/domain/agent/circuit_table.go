package agent

import "time"

// CircuitState is a circuit's phase, as finely as its transitions need it.
type CircuitState string

// The states of a circuit. Time moves Broken to Waiting and Probing to Waiting, without an event.
const (
	Clean    CircuitState = "closed"
	Counting CircuitState = "closed, with failures"
	Broken   CircuitState = "open"
	Waiting  CircuitState = "half-open, no probe out"
	Probing  CircuitState = "half-open, probe out"
)

// CircuitTrigger is what can happen to a circuit.
type CircuitTrigger string

// The triggers. "Late" is an outcome of a handoff other than the last probe, or one that was counted before.
const (
	Succeeded      CircuitTrigger = "success"
	FailedOnce     CircuitTrigger = "failure"
	FailedTooOften CircuitTrigger = "failure that reaches the limit"
	ProbeSucceeded CircuitTrigger = "the last probe succeeds"
	ProbeFailed    CircuitTrigger = "the last probe fails"
	Repeated       CircuitTrigger = "outcome reported before"
	Claimed        CircuitTrigger = "probe claimed"
	ClaimedAgain   CircuitTrigger = "probe claimed by the handoff that has it"
	OperatorReset  CircuitTrigger = "reset by an operator"
)

// CircuitAction is what a circuit does about a trigger.
type CircuitAction string

// The actions. All but Ignore and Refuse make one event.
const (
	Ignore CircuitAction = "ignore"
	Count  CircuitAction = "count"
	Clear  CircuitAction = "clear"
	Break  CircuitAction = "open"
	Close  CircuitAction = "close"
	Admit  CircuitAction = "admit"
	Refuse CircuitAction = "refuse circuit_open"
	Reset  CircuitAction = "reset"
)

// CircuitRule is one row of the breaker's transition table.
type CircuitRule struct {
	In     CircuitState
	On     CircuitTrigger
	Do     CircuitAction
	Become CircuitState
}

// CircuitTable is the breaker's transition table; [Decide] acts by it. A combination that is not in it cannot come
// about: there is no probe while the circuit is closed, and no counting while it is not.
//
// The last probe counts whenever it reports: also after it lapsed (Waiting), as long as no other took its place,
// and after the clock was set back (Broken). Nothing but the probe moves a circuit that is not closed, neither late
// failures of old offers nor late successes.
var CircuitTable = []CircuitRule{
	{Clean, Succeeded, Ignore, Clean},
	{Clean, FailedOnce, Count, Counting},
	{Clean, FailedTooOften, Break, Broken},
	{Clean, Repeated, Ignore, Clean},
	{Clean, Claimed, Ignore, Clean},
	{Clean, OperatorReset, Ignore, Clean},

	{Counting, Succeeded, Clear, Clean},
	{Counting, FailedOnce, Count, Counting},
	{Counting, FailedTooOften, Break, Broken},
	{Counting, Repeated, Ignore, Counting},
	{Counting, Claimed, Ignore, Counting},
	{Counting, OperatorReset, Reset, Clean},

	{Broken, Succeeded, Ignore, Broken},
	{Broken, FailedOnce, Ignore, Broken},
	{Broken, ProbeSucceeded, Close, Clean},
	{Broken, ProbeFailed, Break, Broken},
	{Broken, Repeated, Ignore, Broken},
	{Broken, Claimed, Refuse, Broken},
	{Broken, OperatorReset, Reset, Clean},

	{Waiting, Succeeded, Ignore, Waiting},
	{Waiting, FailedOnce, Ignore, Waiting},
	{Waiting, ProbeSucceeded, Close, Clean},
	{Waiting, ProbeFailed, Break, Broken},
	{Waiting, Repeated, Ignore, Waiting},
	{Waiting, Claimed, Admit, Probing},
	{Waiting, OperatorReset, Reset, Clean},

	{Probing, Succeeded, Ignore, Probing},
	{Probing, FailedOnce, Ignore, Probing},
	{Probing, ProbeSucceeded, Close, Clean},
	{Probing, ProbeFailed, Break, Broken},
	{Probing, Repeated, Ignore, Probing},
	{Probing, Claimed, Refuse, Probing},
	{Probing, ClaimedAgain, Ignore, Probing},
	{Probing, OperatorReset, Reset, Clean},
}

var circuitActions = func() map[CircuitState]map[CircuitTrigger]CircuitAction {
	m := make(map[CircuitState]map[CircuitTrigger]CircuitAction)
	for _, r := range CircuitTable {
		if m[r.In] == nil {
			m[r.In] = make(map[CircuitTrigger]CircuitAction)
		}
		m[r.In][r.On] = r.Do
	}
	return m
}()

// circuitActionFor looks up what an agent's circuit does about a command.
func circuitActionFor(s State, c Command, now time.Time) CircuitAction {
	if !s.Exists() {
		return Ignore
	}
	return circuitActions[circuitStateOf(s, now)][circuitTriggerOf(s, c, now)]
}

func circuitStateOf(s State, now time.Time) CircuitState {
	r := CircuitAt(s, now)
	switch {
	case r.Phase == Open:
		return Broken
	case r.Phase == HalfOpen && r.Probe == "":
		return Waiting
	case r.Phase == HalfOpen:
		return Probing
	case s.Circuit.Failures > 0:
		return Counting
	default:
		return Clean
	}
}

func circuitTriggerOf(s State, c Command, now time.Time) CircuitTrigger {
	switch c := c.(type) {
	case ReportOutcome:
		return outcomeTrigger(s, c)
	case ClaimProbe:
		if CircuitAt(s, now).Probe == c.Handoff {
			return ClaimedAgain
		}
		return Claimed
	default: // ResetCircuit: the only other command of a circuit
		return OperatorReset
	}
}

func outcomeTrigger(s State, c ReportOutcome) CircuitTrigger {
	failed := c.Outcome.Failed()
	switch {
	case c.Cause <= s.Circuit.LastCause:
		return Repeated
	case s.Circuit.Open && s.Circuit.Probe != "" && s.Circuit.Probe == c.Handoff && failed:
		return ProbeFailed
	case s.Circuit.Open && s.Circuit.Probe != "" && s.Circuit.Probe == c.Handoff:
		return ProbeSucceeded
	case !failed:
		return Succeeded
	case !s.Circuit.Open && s.Circuit.Failures+1 >= s.Spec.Breaker.Failures:
		return FailedTooOften
	default:
		return FailedOnce
	}
}
