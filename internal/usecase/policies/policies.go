package policies

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/routing"
)

// Options of policies. The zero value has no files and no adviser.
type Options struct {
	// Read reads a workspace's policy file; nil: there are none.
	Read func(workspace string) (File, error)
	// Adviser makes the adviser that a policy names, for tasks that no rule matches; nil: there is none.
	Adviser func(policy.LLM) (routing.Adviser, error)
	// Embedder makes the embedder that a policy names, for searches by meaning; nil: there is none.
	Embedder func(policy.Embeddings) (routing.Embedder, error)
	// Report is told when the embedder of a workspace begins to fail, and, with nil, when it works again; nil: nobody is told.
	Report func(workspace string, err error)
}

// Policies is the use cases of policies. Its methods are safe for many goroutines.
type Policies struct {
	store     *Store
	decider   *Decider
	decisions view.DecisionQueries
	access    *access.Log
	now       func() time.Time
}

// New returns the use cases of the policies of a store.
func New(s *Store, d *Decider, q view.DecisionQueries, log *access.Log, now func() time.Time) *Policies {
	return &Policies{store: s, decider: d, decisions: q, access: log, now: now}
}

// InForce reports whether a workspace has a policy.
func (ps *Policies) InForce(ctx context.Context, workspace string) (bool, error) {
	return ps.store.InForce(ctx, workspace)
}

// Err tells which policy files are not in force, and why; nil if all are. Policies that came into force stay so.
func (ps *Policies) Err() error { return ps.store.Err() }
