package memory

import "time"

// Event is an event of one item. The set is sealed by [Events].
type Event interface{ EventName() string }

// Events holds one of each event, for codecs.
var Events = []Event{
	ItemStored{},
	ItemRevised{},
	ItemPinned{},
	ItemUnpinned{},
	ItemTagged{},
	ItemWeighed{},
	ItemForgotten{},
}

// ItemStored begins an item.
type ItemStored struct {
	ID           string   `json:"id"`
	Scope        Scope    `json:"scope"`
	Owner        string   `json:"owner"` // the principal that stored it
	Source       Source   `json:"source,omitzero"`
	Task         string   `json:"task,omitempty"`
	Conversation string   `json:"conversation,omitempty"`
	Tags         []string `json:"tags,omitempty"` // sorted, without repeats
	Subject      string   `json:"subject,omitempty"`
	Importance   float64  `json:"importance"` // 0 to 1
	Pinned       bool     `json:"pinned,omitempty"`
	Version      Version  `json:"version"`
}

// ItemRevised adds a version.
type ItemRevised struct {
	Version Version `json:"version"`
}

// ItemPinned puts the item into every envelope that may hold it; by an agent, and for the whole workspace, once an operator pins it, too.
type ItemPinned struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// ItemUnpinned takes that back: the item goes into envelopes like any other.
type ItemUnpinned struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// ItemTagged replaces the item's tags.
type ItemTagged struct {
	Tags []string  `json:"tags,omitempty"` // sorted, without repeats
	By   string    `json:"by"`
	At   time.Time `json:"at"`
}

// ItemWeighed says how important the item is.
type ItemWeighed struct {
	Importance float64   `json:"importance"` // 0 to 1
	By         string    `json:"by"`
	At         time.Time `json:"at"`
}

// ItemForgotten ends the giving out of the item's content.
type ItemForgotten struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// EventName is "memory-stored".
func (ItemStored) EventName() string { return "memory-stored" }

// EventName is "memory-revised".
func (ItemRevised) EventName() string { return "memory-revised" }

// EventName is "memory-pinned".
func (ItemPinned) EventName() string { return "memory-pinned" }

// EventName is "memory-unpinned".
func (ItemUnpinned) EventName() string { return "memory-unpinned" }

// EventName is "memory-tagged".
func (ItemTagged) EventName() string { return "memory-tagged" }

// EventName is "memory-weighed".
func (ItemWeighed) EventName() string { return "memory-weighed" }

// EventName is "memory-forgotten".
func (ItemForgotten) EventName() string { return "memory-forgotten" }
