package agent

// Duty is whether an agent may make itself ready.
type Duty string

// The duties. Only an operator takes an agent off duty.
const (
	OnDuty  Duty = "on duty"
	OffDuty Duty = "off duty"
)

// DutyTrigger is a change of readiness, with its author.
type DutyTrigger string

// The triggers.
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

// DutyTable says which changes of readiness are accepted. [Decide] and [Fold] follow it.
//
// The row that is refused still ends on duty: older records may hold such a change as accepted.
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

// dutyRule is the row for a change of readiness of an agent.
func dutyRule(s State, w DutyTrigger) DutyRule {
	for _, r := range DutyTable {
		if r.In == s.Duty() && r.On == w {
			return r
		}
	}
	return DutyRule{In: s.Duty(), On: w, Become: s.Duty()} // every combination is in the table
}
