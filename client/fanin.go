package client

// FanInMode says when a parent gets its children's results.
type FanInMode string

// The fan-in modes.
const (
	FanInAll    FanInMode = "all"
	FanInQuorum FanInMode = "quorum"
	FanInFirst  FanInMode = "first"
	FanInNone   FanInMode = "none" // the sender goes on; the children are on their own
)

// FanInModes lists every fan-in mode.
func FanInModes() []FanInMode { return []FanInMode{FanInAll, FanInQuorum, FanInFirst, FanInNone} }

// FanIn says when the sender of a fan-out or a delegation resumes.
type FanIn struct {
	Mode   FanInMode `json:"mode"`
	Quorum int       `json:"quorum,omitzero"`
}
