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

var priorities = NewSet("priority", Low, Normal, High, Urgent)

// Priorities lists every priority, lowest first.
func Priorities() []Priority { return priorities.Values() }

// UnmarshalText refuses unknown priorities.
func (p *Priority) UnmarshalText(b []byte) error { return priorities.Decode(p, b) }

// Rank is 0 for Low up to 3 for Urgent.
func (p Priority) Rank() int { return max(priorities.Index(p), 0) }
