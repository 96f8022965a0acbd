package client

import (
	"context"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/client/wire"
)

// Auto, as the only one in SendInput.To, leaves it to the policy where a task goes.
const Auto = "auto"

// Decision is what the policy makes of a task, and why.
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
	Weighed  []Weighed `json:"weighed,omitempty"` // who could receive it, best first
	Omitted  int       `json:"omitted,omitempty"` // how many more there are
	Broken   []string  `json:"broken,omitempty"`  // rules whose expressions could not be evaluated, and why
}

// Receiver is the receiver of a decision: one field is set.
type Receiver struct {
	Agent      string `json:"agent,omitempty"`
	Capability string `json:"capability,omitempty"`
	Channel    string `json:"channel,omitempty"`
	Chain      string `json:"chain,omitempty"`
	Desk       string `json:"desk,omitempty"` // of people
}

// Weighed is a possible receiver, and why it was taken or passed over.
type Weighed struct {
	Agent string `json:"agent,omitempty"`
	Desk  string `json:"desk,omitempty"`
	Tier  string `json:"tier"` // target, fallback or escalation
	Fit   bool   `json:"fit"`
	Why   string `json:"why"`
}

// RouteInput asks where a task would go. Its zero value asks the policy in force.
type RouteInput struct {
	Content Content      `json:"content,omitzero"`  // what would be added to the envelope
	AskLLM  bool         `json:"ask_llm,omitempty"` // where no rule matches, ask the model that the policy names; the question is recorded
	Policy  *PolicyCheck `json:"policy,omitempty"`  // a policy file to try instead
}

// Routed is where a task would go.
type Routed struct {
	Task     string   `json:"task"`
	Decision Decision `json:"decision"`
}

// Route says where the policy would send a task, and why. Nothing changes.
func (c *Client) Route(ctx context.Context, task string, in RouteInput) (Routed, error) {
	return ask[Routed](ctx, c, http.MethodPost, path("tasks", task, "route"), nil, in)
}

// Policy is a policy that is, or was, in force.
type Policy struct {
	Version     int       `json:"version"` // the how manieth that came into force in the workspace
	Digest      string    `json:"digest"`
	By          string    `json:"by"` // who brought it into force
	Since       time.Time `json:"since"`
	Text        string    `json:"text,omitempty"`         // the file, as YAML; left out of lists
	FileProblem string    `json:"file_problem,omitempty"` // why the server's file, as it is now, is not in force
	Position    uint64    `json:"position"`
}

// PolicyCheck is a policy file.
type PolicyCheck struct {
	File string `json:"file,omitempty"` // its name in problems
	Text string `json:"text"`
}

// PolicyProblem is one thing that is wrong with a policy file.
type PolicyProblem struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Path   string `json:"path,omitempty"` // such as rules[2].then.to
	Reason string `json:"reason"`
	Hint   string `json:"hint,omitempty"`
}

// PolicyChecked is what is wrong with a policy file; nothing if it could come into force now.
type PolicyChecked struct {
	Digest   string          `json:"digest"`
	Problems []PolicyProblem `json:"problems"`
	InForce  bool            `json:"in_force,omitempty"` // the same file is in force
}

// Policy shows the policy in force. [NotFound] if there is none.
func (c *Client) Policy(ctx context.Context) (Policy, error) {
	return ask[Policy](ctx, c, http.MethodGet, path("policy"), nil, nil)
}

// Policies lists policies that came into force, the newest first, without texts: at most 100, before a version if it is not 0.
func (c *Client) Policies(ctx context.Context, before int) ([]Policy, error) {
	var list struct{ Policies []Policy }
	q := wire.Query{}
	q.Number("before", before)
	err := c.do(ctx, http.MethodGet, path("policy", "versions"), q, nil, &list)
	return list.Policies, err
}

// CheckPolicy finds what is wrong with a policy file, targets that do not exist included. Nothing changes.
func (c *Client) CheckPolicy(ctx context.Context, in PolicyCheck) (PolicyChecked, error) {
	return ask[PolicyChecked](ctx, c, http.MethodPost, path("policy", "check"), nil, in)
}

// ReloadPolicy brings the server's policy file, as it is now, into force. A bad one is refused ([Invalid]), and the policy
// in force stays.
func (c *Client) ReloadPolicy(ctx context.Context) (Policy, error) {
	return ask[Policy](ctx, c, http.MethodPost, path("policy", "reload"), nil, nil)
}
