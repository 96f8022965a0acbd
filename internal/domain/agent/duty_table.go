package agent

// Duty is whether an agent's own word on its readiness is enough.
type Duty string

// The duties. What takes an agent off duty is an operator's word, and nobody else's.
const (
	OnDuty  Duty = "on duty"
	OffDuty Duty = "off duty"
)

// DutyTrigger is what somebody says of an agent's readiness, as finely as duty needs it.
type DutyTrigger string

// The words.
const (
	ReadyByAgent    DutyTrigger = "ready, says the agent"
	ElseByAgent     DutyTrigger = "busy, draining or offline, says the agent"
	ReadyByOperator DutyTrigger = "ready, says an operator"
	ElseByOperator  DutyTrigger = "busy, draining or offline, says an operator"
)

func dutyTriggerOf(r Readiness, by Author) DutyTrigger {
	switch {
	case by == ByOperator && r == Ready:
		return ReadyByOperator
	case by == ByOperator:
		return ElseByOperator
	case r == Ready:
		return ReadyByAgent
	default:
		return ElseByAgent
	}
}

// DutyRule is one row of the table of duties.
type DutyRule struct {
	In     Duty
	On     DutyTrigger
	Taken  bool // or refused: conflict
	Become Duty
}

// DutyTable says whose word on readiness is taken when. [Decide] and [Fold] act by it.
//
// The row that is refused ends on duty all the same: older records may hold such a word as taken, and what was taken
// happened.
var DutyTable = []DutyRule{
	{OnDuty, ReadyByAgent, true, OnDuty},
	{OnDuty, ElseByAgent, true, OnDuty},
	{OnDuty, ReadyByOperator, true, OnDuty},
	{OnDuty, ElseByOperator, true, OffDuty},
	{OffDuty, ReadyByAgent, false, OnDuty},
	{OffDuty, ElseByAgent, true, OffDuty},
	{OffDuty, ReadyByOperator, true, OnDuty},
	{OffDuty, ElseByOperator, true, OffDuty},
}

// dutyRule is the row for a word about an agent.
func dutyRule(s State, w DutyTrigger) DutyRule {
	for _, r := range DutyTable {
		if r.In == s.Duty() && r.On == w {
			return r
		}
	}
	return DutyRule{In: s.Duty(), On: w, Become: s.Duty()} // every combination is in the table
}
