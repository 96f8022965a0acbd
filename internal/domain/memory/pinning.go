package memory

import "strings"

// MaxPins bounds the pins that one agent holds, in all scopes, proposed ones included. What an operator has pinned is the operator's.
const MaxPins = 32

// Pinning is what the pin of an item comes to. Views store it.
type Pinning int

// The pinnings.
const (
	NotPinned   Pinning = iota
	AgentPin            // an agent has pinned it, in a scope that is not the whole workspace
	OperatorPin         // an operator has
	ProposedPin         // an agent has pinned it for the whole workspace: that counts once an operator pins it, too
)

// PinnedFor is what a pin by a principal comes to in a scope.
func PinnedFor(s Scope, principal string) Pinning {
	switch {
	case !strings.HasPrefix(principal, "agent/"):
		return OperatorPin
	case s == Workspace:
		return ProposedPin
	}
	return AgentPin
}

// Counts reports whether the item goes into the envelopes that may hold it.
func (p Pinning) Counts() bool { return p == AgentPin || p == OperatorPin }

// Pinning is what the item's pin comes to.
func (s State) Pinning() Pinning {
	if !s.Pinned {
		return NotPinned
	}
	return PinnedFor(s.Scope, s.PinnedBy)
}

// Unsettles reports whether a version by a principal takes the agreement away that an operator has given to the pin: the operator
// agreed to another text. The pin is then that of the agent.
func Unsettles(principal string) bool { return PinnedFor(Private, principal) != OperatorPin }
