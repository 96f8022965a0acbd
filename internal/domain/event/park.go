package event

// ParkCause says why a task is in the dead letters.
type ParkCause string

// The causes of parking.
const (
	ParkExhausted     ParkCause = "exhausted"      // retries, alternatives and the escalation chain are used up
	ParkLimit         ParkCause = "limit"          // a limit of the task was reached
	ParkBudget        ParkCause = "budget"         // a budget of the task is spent
	ParkDeadline      ParkCause = "deadline"       // the task's deadline has passed
	ParkDependency    ParkCause = "dependency"     // a task it depends on did not complete
	ParkReturned      ParkCause = "returned"       // the handoff came back and the task has no owner
	ParkOwnerLost     ParkCause = "owner_lost"     // the owner's lease ended and no agent could take over
	ParkNobodyClaimed ParkCause = "nobody_claimed" // people were asked to take it over, and none did in time
)

// ParkCauses lists every cause of parking.
var ParkCauses = NewSet("a park cause",
	ParkExhausted, ParkLimit, ParkBudget, ParkDeadline, ParkDependency, ParkReturned, ParkOwnerLost, ParkNobodyClaimed,
)

func (c *ParkCause) UnmarshalText(b []byte) error { return ParkCauses.Decode(c, b) }
