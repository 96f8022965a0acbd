package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/wire"
)

// Policy is a policy that is, or was, in force.
type Policy struct {
	Version     int       `json:"version"` // counts the policies that came into force in the workspace
	Digest      string    `json:"digest"`
	By          string    `json:"by"` // the principal that brought it into force
	Since       time.Time `json:"since"`
	Text        string    `json:"text,omitempty"`         // the file, as YAML; left out of lists
	FileProblem string    `json:"file_problem,omitempty"` // why the server's file, as it is now, is not in force
	Position    uint64    `json:"position"`
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

// Policy shows the policy in force. [client.NotFound] if there is none.
func (c Client) Policy(ctx context.Context) (Policy, error) {
	return call[Policy](ctx, c, http.MethodGet, nil, nil, "policy")
}

// Policies lists policies that came into force, the newest first, without texts: at most 100, before a version if it is not 0.
func (c Client) Policies(ctx context.Context, before int) ([]Policy, error) {
	var list struct{ Policies []Policy }
	q := wire.Query{}
	q.Number("before", before)
	err := c.Call(ctx, http.MethodGet, wire.Path("policy", "versions"), q, nil, &list)
	return list.Policies, err
}

// Decided is a decision of the policy that handed a task off, or kept it.
type Decided struct {
	Time     time.Time `json:"time"`
	Task     string    `json:"task"`
	Handoff  string    `json:"handoff,omitempty"`  // its id; empty: it made children, or kept the task
	Children []string  `json:"children,omitempty"` // the ids of tasks, at most 20
	client.Decision
	Position uint64 `json:"position"`
}

// DecisionFilter narrows a list of decisions. Zero fields do not.
type DecisionFilter struct {
	Rule   string // that decided; "advice": of the model that the policy asks
	Policy string // that was in force: its digest
	Before uint64 // DecisionPage.Next of the page before
	Limit  int    // at most 500; 0: 50
}

// DecisionPage is one page of a list of decisions.
type DecisionPage struct {
	Decisions []Decided `json:"decisions"`      // the newest first
	Next      uint64    `json:"next,omitempty"` // for DecisionFilter.Before; 0 at the end
	Position  uint64    `json:"position"`
}

// Decisions lists what the policy has decided. It is for operators and auditors, and the read is recorded.
func (c Client) Decisions(ctx context.Context, f DecisionFilter) (DecisionPage, error) {
	q := wire.Query{}
	q.Texts("rule", f.Rule, "policy", f.Policy)
	q.Position("before", f.Before)
	q.Number("limit", f.Limit)
	return call[DecisionPage](ctx, c, http.MethodGet, q, nil, "policy", "decisions")
}

// CheckPolicy finds what is wrong with a policy file, targets that do not exist included. Nothing changes.
func (c Client) CheckPolicy(ctx context.Context, in client.PolicyCheck) (PolicyChecked, error) {
	return call[PolicyChecked](ctx, c, http.MethodPost, nil, in, "policy", "check")
}

// ReloadPolicy brings the server's policy file, as it is now, into force. A bad one is refused ([client.Invalid]), and the policy
// in force stays.
func (c Client) ReloadPolicy(ctx context.Context) (Policy, error) {
	return call[Policy](ctx, c, http.MethodPost, nil, nil, "policy", "reload")
}
