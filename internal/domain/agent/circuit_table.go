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

// CircuitTable is the transition table of each circuit, the shared one and those of senders; [Decide] acts by it. A combination
// that is not in it cannot come about: there is no probe while the circuit is closed, and no counting while it is not. For a
// sender whose failures opened the shared circuit, that is Broken a period longer.
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

// actionsFor looks up what an agent's shared circuit, and the one of the command's sender, do about a command.
func actionsFor(s *State, c Command, now time.Time) (shared, single CircuitAction) {
	shared, single = Ignore, Ignore
	if !s.Exists() {
		return shared, single
	}
	var sender string
	failed, cleared := false, false
	switch c := c.(type) {
	case ReportOutcome:
		sender, failed, cleared = c.blamed(), c.Outcome.Failed(), true
	case ClaimProbe:
		sender = c.Sender
	}
	shared = circuitActions[circuitStateOf(&s.Circuit, s.Circuit.atFor(sender, now))][circuitTriggerOf(s, &s.Circuit, "", c, now)]
	if sender == "" || len(s.SenderCircuits) == 0 && cleared && !failed {
		return shared, single
	}
	k := s.senderCircuit(sender)
	single = circuitActions[circuitStateOf(&k, k.at(now))][circuitTriggerOf(s, &k, sender, c, now)]
	if failed && k.Open && !s.Circuit.Open { // it has counted as often as it may
		shared = Ignore
	}
	return shared, single
}

func circuitStateOf(c *Circuit, r Reading) CircuitState {
	switch {
	case r.Phase == Open, r.Phase == HalfOpen && r.Probe == "" && !r.Admits():
		return Broken
	case r.Phase == HalfOpen && r.Probe == "":
		return Waiting
	case r.Phase == HalfOpen:
		return Probing
	case c.Failures > 0:
		return Counting
	default:
		return Clean
	}
}

// circuitTriggerOf says what a command is for a circuit: the shared one, or the one of a sender.
func circuitTriggerOf(s *State, k *Circuit, sender string, c Command, now time.Time) CircuitTrigger {
	switch c := c.(type) {
	case ReportOutcome:
		return outcomeTrigger(s, k, sender, c)
	case ClaimProbe:
		if k.at(now).Probe == c.Handoff {
			return ClaimedAgain
		}
		return Claimed
	default: // ResetCircuit: the only other command of a circuit
		return OperatorReset
	}
}

func outcomeTrigger(s *State, k *Circuit, sender string, c ReportOutcome) CircuitTrigger {
	failed := c.Outcome.Failed()
	probe := k.Open && k.Probe != "" && k.Probe == c.Handoff
	switch {
	case c.Cause <= s.Circuit.LastCause:
		return Repeated
	case probe && failed:
		return ProbeFailed
	case probe:
		return ProbeSucceeded
	case !failed:
		return Succeeded
	case k.Open:
		return FailedOnce
	case sender != "" && k.Failures+1 >= s.Spec.Breaker.Failures, sender == "" && s.reached(c):
		return FailedTooOften
	default:
		return FailedOnce
	}
}
