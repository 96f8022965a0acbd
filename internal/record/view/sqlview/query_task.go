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

// OpenTaskCount implements [view.TaskQueries].
func (v *Views) OpenTaskCount(ctx context.Context, workspace, principal string) (int, error) {
	n, err := query.Int(ctx, v.tables, "SELECT n FROM view_count WHERE ws = ? AND of = ?", workspace, principal)
	return n + v.projector.late.Number(counted{workspace: workspace, principal: principal}), err // too few for as long as these are being written
}
