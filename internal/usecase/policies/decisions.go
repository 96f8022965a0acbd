package policies

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// DecisionsInput narrows a list of decisions. Zero fields do not.
type DecisionsInput struct {
	Rule   string          // that decided
	Policy string          // that was in force: its digest
	Before ledger.Position // of the last decision of the page before
	Limit  int             // at most this many, up to 500; 0 means 50
}

// Decisions lists what the policy or its adviser decided of handoffs to "auto", also to keep a task, the newest first, each with
// the reasons. It is for principals that may read anything, and recorded as one read.
func (ps *Policies) Decisions(ctx context.Context, c caller.Caller, in DecisionsInput) ([]view.DecisionRow, error) {
	if err := c.May(identity.ReadAny, "list decisions"); err != nil {
		return nil, ps.access.Refused(ctx, c.Workspace, c.Actor(), "list-decisions", "", err)
	}
	if err := view.CheckLimit(in.Limit); err != nil {
		return nil, err
	}
	list, err := ps.decisions.Decisions(ctx, c.Workspace, view.DecisionFilter(in))
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	ids := make([]string, len(list))
	for i, d := range list {
		if ids[i] = d.Handoff; d.Handoff == "" {
			ids[i] = d.Task
		}
	}
	return list, ps.access.ReadList(ctx, c.Workspace, c.Actor(), "list of decisions", ids)
}
