package channel

import (
	"slices"
	"time"
)

// State is everything that is known about one channel. The zero State is one that was never created. It is
// immutable: do not change the slice in it.
type State struct {
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Owner       string    `json:"owner"`                 // the principal that created it
	Subscribers []string  `json:"subscribers,omitempty"` // agents by name: sorted, without repeats
	CreatedAt   time.Time `json:"created_at"`
	Removed     bool      `json:"removed,omitempty"`
}

// Exists reports whether the channel is there now.
func (s State) Exists() bool { return s.Name != "" && !s.Removed }

// Has reports whether an agent subscribes to the channel.
func (s State) Has(agent string) bool {
	_, ok := slices.BinarySearch(s.Subscribers, agent)
	return ok
}

// Receivers are the agents that a publisher reaches: every subscriber but itself. The caller owns the slice.
func (s State) Receivers(publisher string) []string {
	return slices.DeleteFunc(slices.Clone(s.Subscribers), func(a string) bool { return a == publisher })
}
