package client

import (
	"context"
	"net/http"
)

// Decision is the receiver that the policy chose for a task, and why.
type Decision struct {
	Policy   string    `json:"policy,omitempty"` // digest of the policy in force; empty: none
	Rule     string    `json:"rule,omitempty"`   // that decided; "advice" if the adviser did; empty if nobody
	Why      []string  `json:"why,omitempty"`
	Action   string    `json:"action"` // keep or handoff
	To       Receiver  `json:"to,omitzero"`
	Kind     Kind      `json:"kind,omitempty"`
	Reason   Reason    `json:"reason,omitempty"`
	Detail   string    `json:"detail,omitempty"`
	Approver string    `json:"approver,omitempty"`
	Pack     Pack      `json:"pack,omitzero"`
	Weighed  []Weighed `json:"weighed,omitempty"` // possible receivers, best first
	Omitted  int       `json:"omitted,omitempty"` // how many more there are
	Broken   []string  `json:"broken,omitempty"`  // rules whose expressions could not be evaluated, and why
}

// Actions lists the values of [Decision].Action.
func Actions() []string { return []string{"keep", "handoff"} }

// Receiver is the receiver that a decision names: one field is set.
type Receiver struct {
	Agent      string `json:"agent,omitempty"`
	Capability string `json:"capability,omitempty"`
	Channel    string `json:"channel,omitempty"`
	Chain      string `json:"chain,omitempty"`
	Desk       string `json:"desk,omitempty"` // of people
}

// Weighed is a possible receiver, and why it was chosen or passed over.
type Weighed struct {
	Agent string `json:"agent,omitempty"`
	Desk  string `json:"desk,omitempty"`
	Tier  string `json:"tier"` // target, fallback or escalation
	Fit   bool   `json:"fit"`
	Why   string `json:"why"`
}

// RouteInput asks for the receiver of a task. Its zero value asks the policy in force.
type RouteInput struct {
	Content Content      `json:"content,omitzero"`  // what would be added to the envelope
	AskLLM  bool         `json:"ask_llm,omitempty"` // if no rule matches, ask the model that the policy names; the question and answer are recorded
	Policy  *PolicyCheck `json:"policy,omitempty"`  // a policy file to try instead
}

// PolicyCheck is a policy file.
type PolicyCheck struct {
	File string `json:"file,omitempty"` // its name in problems
	Text string `json:"text"`
}

// Routed is the receiver that a task would have.
type Routed struct {
	Task     string   `json:"task"`
	Decision Decision `json:"decision"`
}

// Route asks the policy for the receiver of a task. Nothing changes.
func (c *Client) Route(ctx context.Context, task string, in RouteInput) (Routed, error) {
	return ask[Routed](ctx, c, http.MethodPost, path("tasks", task, "route"), nil, in)
}
