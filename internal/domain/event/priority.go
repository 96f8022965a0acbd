package event

// Priority orders every inbox.
type Priority string

// The priorities, lowest first. The empty priority of a request means Normal.
const (
	Low    Priority = "low"
	Normal Priority = "normal"
	High   Priority = "high"
	Urgent Priority = "urgent"
)

// Priorities lists every priority, lowest first.
var Priorities = NewSet("a priority", Low, Normal, High, Urgent)

func (p *Priority) UnmarshalText(b []byte) error { return Priorities.Decode(p, b) }

// Rank is 0 for Low up to 3 for Urgent.
func (p Priority) Rank() int { return max(Priorities.Index(p), 0) }
