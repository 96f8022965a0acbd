package channel

import (
	"slices"
	"time"
)

// Event is an event of one channel. The set is sealed by [Events].
type Event interface{ EventName() string }

// Events holds one of each event, for codecs.
var Events = []Event{
	Created{},
	Described{},
	Subscribed{},
	Unsubscribed{},
	Removed{},
}

// Created begins a channel's life, or its next life after removal, without subscribers.
type Created struct {
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Owner       string    `json:"owner"` // the principal that created it
	At          time.Time `json:"at"`
}

// Described replaces the description.
type Described struct {
	Description string `json:"description,omitempty"`
}

// Subscribed adds a subscriber.
type Subscribed struct {
	Agent string `json:"agent"`
}

// Unsubscribed takes a subscriber away.
type Unsubscribed struct {
	Agent string `json:"agent"`
}

// Removed ends a channel's life. What was published stays what it is.
type Removed struct{}

// EventName is "channel-created".
func (Created) EventName() string { return "channel-created" }

// EventName is "channel-described".
func (Described) EventName() string { return "channel-described" }

// EventName is "channel-subscribed".
func (Subscribed) EventName() string { return "channel-subscribed" }

// EventName is "channel-unsubscribed".
func (Unsubscribed) EventName() string { return "channel-unsubscribed" }

// EventName is "channel-removed".
func (Removed) EventName() string { return "channel-removed" }

// Fold returns the state after an event. It never refuses; events of other packages change nothing.
func Fold(s State, e Event) State {
	switch e := e.(type) {
	case Created:
		return State{Name: e.Name, Description: e.Description, Owner: e.Owner, CreatedAt: e.At}
	case Described:
		s.Description = e.Description
	case Subscribed:
		if i, there := slices.BinarySearch(s.Subscribers, e.Agent); !there {
			s.Subscribers = slices.Insert(slices.Clone(s.Subscribers), i, e.Agent)
		}
	case Unsubscribed:
		s.Subscribers = s.Receivers(e.Agent)
	case Removed:
		s.Removed = true
	}
	return s
}
