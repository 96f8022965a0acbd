package sqlview

import (
	"context"

	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
)

// Dependents implements [view.TaskQueries].
func (v *Views) Dependents(ctx context.Context, workspace, task string) ([]string, error) {
	if v.noDependents.Load() {
		return []string{}, ctx.Err()
	}
	return query.Texts(ctx, v.db, "SELECT task FROM view_dependent WHERE ws = ? AND needed = ? ORDER BY task", workspace, task)
}

// Claims implements [view.TaskQueries].
func (v *Views) Claims(ctx context.Context, workspace, capability string) ([]string, error) {
	return query.Texts(ctx, v.db, "SELECT handoff FROM view_claim WHERE ws = ? AND who = ? ORDER BY handoff", workspace, capability)
}

// MissedClaims implements [view.TaskQueries].
func (v *Views) MissedClaims(ctx context.Context, workspace, agent string) ([]string, error) {
	return v.Claims(ctx, workspace, missedBy+agent)
}

// Waiting implements [view.Timers].
func (v *Views) Waiting(ctx context.Context, workspace, agent string) ([]string, error) {
	return v.Claims(ctx, workspace, waitsFor+agent)
}

// OpenTaskCount implements [view.TaskQueries].
func (v *Views) OpenTaskCount(ctx context.Context, workspace, principal string) (int, error) {
	more := 0 // than the tables have
	if f := v.follower; f != nil {
		f.writing.Lock()
		defer f.writing.Unlock()
		more = f.projector.counts[counted{workspace: workspace, principal: principal}]
	}
	n, err := query.Int(ctx, v.tables, "SELECT n FROM view_count WHERE ws = ? AND of = ?", workspace, principal)
	return n + more, err
}
