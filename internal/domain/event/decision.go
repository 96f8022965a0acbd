package event

// Action is what a decision does with a task.
type Action string

// The actions.
const (
	ActionKeep    Action = "keep"    // the task stays where it is
	ActionHandOff Action = "handoff" // to the receiver that the decision names
)

// Actions lists every action.
var Actions = NewSet("an action", ActionKeep, ActionHandOff)

func (a *Action) UnmarshalText(b []byte) error { return Actions.Decode(a, b) }

// The limits of a decision as it is recorded.
const (
	MaxWeighed = 16 // receivers
	MaxBroken  = 8  // rules
)

// Decision is the receiver that routing chose for a handoff to "auto", and why. It is recorded with the handoff.
type Decision struct {
	Policy string `json:"policy,omitempty"` // digest of the policy in force; empty: none
	// Rule is the name of the rule that decided; [AdviceRule] if the adviser did, empty if none did.
	Rule   string   `json:"rule,omitempty"`
	Why    []string `json:"why,omitempty"` // the conditions of the rule that held, or why no rule decided
	Action Action   `json:"action"`
	To     Receiver `json:"to,omitzero"`
	Kind   Kind     `json:"kind,omitempty"`
	Reason Reason   `json:"reason,omitempty"`
	Detail string   `json:"detail,omitempty"`
	// Approver is the agent that must approve the handoff, and Pack how its envelope is packed, as the rule says.
	Approver string `json:"approver,omitempty"`
	Pack     Pack   `json:"pack,omitzero"`
	// Weighed are the possible receivers, best first, each with why it was chosen or passed over; Omitted counts those that are
	// not listed.
	Weighed []Weighed `json:"weighed,omitempty"`
	Omitted int       `json:"omitted,omitempty"`
	// Broken names the rules whose expressions could not be evaluated, each with the reason.
	Broken []string `json:"broken,omitempty"`
}

// Receiver is the receiver that a decision names: exactly one field is set.
type Receiver struct {
	Agent      string `json:"agent,omitempty"`
	Capability string `json:"capability,omitempty"`
	Channel    string `json:"channel,omitempty"`
	Chain      string `json:"chain,omitempty"`
	Desk       string `json:"desk,omitempty"`
}

// Weighed is a possible receiver, and whether it fits.
type Weighed struct {
	Agent string `json:"agent,omitempty"`
	Desk  string `json:"desk,omitempty"`
	Tier  Tier   `json:"tier"`
	Fit   bool   `json:"fit"`
	Why   string `json:"why"`
}
