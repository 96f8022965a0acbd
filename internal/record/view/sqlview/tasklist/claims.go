package tasklist

import (
	"context"

	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
)

// MissedBy and WaitsFor mark agents among capabilities: no name contains them.
const (
	MissedBy = "@"
	WaitsFor = "!"
)

// Claims implements [view.TaskQueries].
func (l *Lists) Claims(ctx context.Context, workspace, capability string) ([]string, error) {
	return query.Texts(ctx, l.db, "SELECT handoff FROM view_claim WHERE ws = ? AND who = ? ORDER BY handoff", workspace, capability)
}

// MissedClaims implements [view.TaskQueries].
func (l *Lists) MissedClaims(ctx context.Context, workspace, agent string) ([]string, error) {
	return l.Claims(ctx, workspace, MissedBy+agent)
}

// Waiting implements [view.Timers].
func (l *Lists) Waiting(ctx context.Context, workspace, agent string) ([]string, error) {
	return l.Claims(ctx, workspace, WaitsFor+agent)
}
