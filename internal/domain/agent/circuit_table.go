package agent

import "time"

// CircuitState is a circuit's phase, as finely as its transitions need it.
type CircuitState string

// The states of a circuit. Time moves Broken to Waiting and Probing to Waiting, without an event.
const (
	Clean    CircuitState = "closed"
	Counting CircuitState = "closed, with failed offers"
	Losing   CircuitState = "closed, with lost leases or on trial"
	Failing  CircuitState = "closed, with both"
	Broken   CircuitState = "open"
	Waiting  CircuitState = "half-open, no probe out"
	Probing  CircuitState = "half-open, probe out"
)

// CircuitTrigger is what can happen to a circuit.
type CircuitTrigger string

// The triggers. Outcomes come from the last probe, or from another handoff; each counts once.
const (
	AcceptedOne    CircuitTrigger = "offer accepted"
	EndedOne       CircuitTrigger = "task ended by the agent"
	FailedOne      CircuitTrigger = "failed offer"
	LostOne        CircuitTrigger = "lost lease"
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
// failures of old offers nor late successes. A circuit that closes is on trial until the agent ends a task, of any sender: people are told
// that it is half-open. When the one of a sender closes, the leases that the agent lost before go on counting until then: one more opens it again.
var CircuitTable = []CircuitRule{
	{Clean, AcceptedOne, Ignore, Clean},
	{Clean, EndedOne, Ignore, Clean},
	{Clean, FailedOne, Count, Counting},
	{Clean, LostOne, Count, Losing},
	{Clean, FailedTooOften, Break, Broken},
	{Clean, Repeated, Ignore, Clean},
	{Clean, Claimed, Ignore, Clean},
	{Clean, OperatorReset, Ignore, Clean},

	{Counting, AcceptedOne, Clear, Clean},
	{Counting, EndedOne, Ignore, Counting},
	{Counting, FailedOne, Count, Counting},
	{Counting, LostOne, Count, Failing},
	{Counting, FailedTooOften, Break, Broken},
	{Counting, Repeated, Ignore, Counting},
	{Counting, Claimed, Ignore, Counting},
	{Counting, OperatorReset, Reset, Clean},

	{Losing, AcceptedOne, Ignore, Losing},
	{Losing, EndedOne, Clear, Clean},
	{Losing, FailedOne, Count, Failing},
	{Losing, LostOne, Count, Losing},
	{Losing, FailedTooOften, Break, Broken},
	{Losing, Repeated, Ignore, Losing},
	{Losing, Claimed, Ignore, Losing},
	{Losing, OperatorReset, Reset, Clean},

	{Failing, AcceptedOne, Clear, Losing},
	{Failing, EndedOne, Clear, Counting},
	{Failing, FailedOne, Count, Failing},
	{Failing, LostOne, Count, Failing},
	{Failing, FailedTooOften, Break, Broken},
	{Failing, Repeated, Ignore, Failing},
	{Failing, Claimed, Ignore, Failing},
	{Failing, OperatorReset, Reset, Clean},

	{Broken, AcceptedOne, Ignore, Broken},
	{Broken, EndedOne, Ignore, Broken},
	{Broken, FailedOne, Ignore, Broken},
	{Broken, LostOne, Ignore, Broken},
	{Broken, ProbeSucceeded, Close, Losing},
	{Broken, ProbeFailed, Break, Broken},
	{Broken, Repeated, Ignore, Broken},
	{Broken, Claimed, Refuse, Broken},
	{Broken, OperatorReset, Reset, Clean},

	{Waiting, AcceptedOne, Ignore, Waiting},
	{Waiting, EndedOne, Ignore, Waiting},
	{Waiting, FailedOne, Ignore, Waiting},
	{Waiting, LostOne, Ignore, Waiting},
	{Waiting, ProbeSucceeded, Close, Losing},
	{Waiting, ProbeFailed, Break, Broken},
	{Waiting, Repeated, Ignore, Waiting},
	{Waiting, Claimed, Admit, Probing},
	{Waiting, OperatorReset, Reset, Clean},

	{Probing, AcceptedOne, Ignore, Probing},
	{Probing, EndedOne, Ignore, Probing},
	{Probing, FailedOne, Ignore, Probing},
	{Probing, LostOne, Ignore, Probing},
	{Probing, ProbeSucceeded, Close, Losing},
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
		if c.Outcome == Ended { // it concerns the circuits of all senders
			return s.endedActions(c, now)
		}
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

// endedActions looks up what the shared circuit does about the end of a task, and the circuit of the first sender that does anything.
func (s *State) endedActions(c ReportOutcome, now time.Time) (shared, single CircuitAction) {
	shared, single = circuitActions[circuitStateOf(&s.Circuit, s.Circuit.at(now))][circuitTriggerOf(s, &s.Circuit, "", c, now)], Ignore
	for i := range s.SenderCircuits {
		k := &s.SenderCircuits[i].Circuit
		if single = circuitActions[circuitStateOf(k, k.at(now))][circuitTriggerOf(s, k, s.SenderCircuits[i].Sender, c, now)]; single != Ignore {
			break
		}
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
	case c.Failures > c.Lost && (c.Lost > 0 || c.OnTrial > 0):
		return Failing
	case c.Lost > 0 || c.OnTrial > 0:
		return Losing
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
	case c.Outcome == Ended:
		return EndedOne
	case !failed:
		return AcceptedOne
	case !k.Open && (sender != "" && k.Failures+1 >= s.Spec.Breaker.Failures || sender == "" && s.reached(c)):
		return FailedTooOften
	case c.Outcome == LeaseLost:
		return LostOne
	default:
		return FailedOne
	}
}
