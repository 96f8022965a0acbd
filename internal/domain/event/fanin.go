package event

// FanInMode says which of its children's results a parent waits for.
type FanInMode string

// The fan-in modes.
const (
	FanInAll    FanInMode = "all"
	FanInQuorum FanInMode = "quorum"
	FanInFirst  FanInMode = "first"
	FanInNone   FanInMode = "none" // the sender goes on; the children are on their own
)

// FanInModes lists every fan-in mode.
var FanInModes = NewSet("a fan-in mode", FanInAll, FanInQuorum, FanInFirst, FanInNone)

func (m *FanInMode) UnmarshalText(b []byte) error { return FanInModes.Decode(m, b) }

// FanIn says when a parent resumes.
type FanIn struct {
	Mode   FanInMode `json:"mode"`
	Quorum int       `json:"quorum,omitzero"` // results to wait for, with FanInQuorum
}
