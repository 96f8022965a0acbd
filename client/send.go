package client

import "context"

// Auto, alone in SendInput.To, leaves the receiver to the policy.
const Auto = "auto"

// SendInput hands a task off.
type SendInput struct {
	Epoch       uint64      `json:"epoch,omitempty"`
	To          []string    `json:"to,omitempty"`         // agents in order of preference; none: the next on the task's route; Auto alone: as the policy says
	Capability  string      `json:"capability,omitempty"` // what the receiver must be able to do
	Channel     string      `json:"channel,omitempty"`    // publish to its present subscribers, instead of naming receivers
	Kind        Kind        `json:"kind,omitempty"`       // empty: warm; with a channel, Broadcast
	FanOut      bool        `json:"fan_out,omitempty"`    // with Broadcast: every receiver gets a copy
	FanIn       FanIn       `json:"fan_in,omitzero"`
	Reason      Reason      `json:"reason,omitempty"` // empty: user_request
	Detail      string      `json:"detail,omitempty"`
	Content     Content     `json:"content,omitzero"`
	Confirm     ConfirmMode `json:"confirm,omitempty"` // empty: auto
	Timeouts    Timeouts    `json:"timeouts,omitzero"`
	Retries     *int        `json:"retries,omitempty"` // unanswered offers after the first; nil: 3
	ReturnHome  bool        `json:"return_home,omitempty"`
	Approver    string      `json:"approver,omitempty"`   // of a supervised handoff; empty: any operator
	Permissions []string    `json:"permissions,omitzero"` // a part of the task's; nil: all of them; empty: none
	Budget      Spend       `json:"budget,omitzero"`      // of each child
	Expected    Expected    `json:"expected,omitzero"`
	Pack        Pack        `json:"pack,omitzero"`
	// Constraints that the task gets first, in the same decision; each needs an id of its own. See [ParseConstraint].
	Constraints []Constraint `json:"constraints,omitempty"`
}

// Send asks to hand a task to others and returns at once. The inbox, the task and the events say what comes of it.
func (c *Client) Send(ctx context.Context, task string, in SendInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "send")
}

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
