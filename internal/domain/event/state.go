package event

// State is where a task is in its life.
type State string

// The task states. Completed, Failed and Cancelled are final.
const (
	Pending    State = "pending"     // it has no owner; its requester is the source
	Executing  State = "executing"   // its owner works on it
	HandingOff State = "handing_off" // a handoff is under way; the source still owns it
	Waiting    State = "waiting"     // for the results of child tasks
	Parked     State = "parked"      // in the dead letters
	Completed  State = "completed"
	Failed     State = "failed"
	Cancelled  State = "cancelled"
)

// States lists every task state.
var States = NewSet("a state", Pending, Executing, HandingOff, Waiting, Parked, Completed, Failed, Cancelled)

func (s *State) UnmarshalText(b []byte) error { return States.Decode(s, b) }

// Final reports whether nothing can happen to a task in this state any more.
func (s State) Final() bool { return s == Completed || s == Failed || s == Cancelled }
