package sqlview

import (
	"context"
	"database/sql"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/channel"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
)

// Agents implements [view.Directory].
func (v *Views) Agents(ctx context.Context, workspace string) ([]agent.State, error) {
	return query.JSON[agent.State](ctx, v.tables, "SELECT state FROM view_agent WHERE ws = ? AND removed = 0 ORDER BY name", workspace)
}

// AgentLoads implements [view.Directory].
func (v *Views) AgentLoads(ctx context.Context, workspace string, before *view.AgentLoads) (*view.AgentLoads, error) {
	now := view.AgentLoads{AgentsAt: v.agentChanges.Load(), HeldAt: v.Position()} // taken before reading, so that later changes are read again
	if before != nil && before.AgentsAt == now.AgentsAt && before.HeldAt == now.HeldAt {
		return before, nil
	}
	var err error
	if before != nil && before.AgentsAt == now.AgentsAt {
		now.Agents = before.Agents
	} else if now.Agents, err = v.Agents(ctx, workspace); err != nil {
		return nil, err
	}
	now.Held = map[string]int{}
	err = v.db.Each(ctx, func(rows *sql.Rows) error {
		var name string
		var n int
		err := rows.Scan(&name, &n)
		now.Held[name] = n
		return err
	}, "SELECT owner, count(*) FROM view_task INDEXED BY view_task_owner WHERE ws = ? AND live = 2 AND live > 0 AND owner <> '' GROUP BY owner", workspace)
	return &now, err
}

// Workspaces implements [view.Directory].
func (v *Views) Workspaces(ctx context.Context) ([]string, error) {
	return query.Texts(ctx, v.tables, "SELECT DISTINCT ws FROM view_agent ORDER BY ws")
}

// Held implements [view.Directory].
func (v *Views) Held(ctx context.Context, workspace, agent string) (int, error) {
	return query.Int(ctx, v.db, "SELECT count(*) FROM view_task INDEXED BY view_task_owner WHERE ws = ? AND owner = ? AND live = 2 AND live > 0 AND owner <> ''",
		workspace, agent)
}

// Tokens implements [view.Directory].
func (v *Views) Tokens(ctx context.Context, workspace string) ([]identity.State, error) {
	return query.JSON[identity.State](ctx, v.tables, "SELECT state FROM view_token WHERE ws = ? ORDER BY n", workspace)
}

// Channels implements [view.Directory].
func (v *Views) Channels(ctx context.Context, workspace, after string, limit int) ([]channel.State, error) {
	return query.JSON[channel.State](ctx, v.tables, "SELECT state FROM view_channel INDEXED BY view_channel_there WHERE ws = ? AND removed = 0 AND name > ? ORDER BY name LIMIT ? | 0",
		workspace, after, view.PageSize(limit))
}

// ChannelCount implements [view.Directory].
func (v *Views) ChannelCount(ctx context.Context, workspace string) (int, error) {
	return query.Int(ctx, v.tables, "SELECT count(*) FROM view_channel INDEXED BY view_channel_there WHERE ws = ? AND removed = 0", workspace)
}

// Due implements [view.Timers].
func (v *Views) Due(ctx context.Context, by time.Time, limit int) (due []view.Ref, next time.Time, err error) {
	limit = max(limit, 0)
	soonest := v.projector.late.Soonest() // a caller is told of what is written from now on, and asks again
	due, next, err = v.due(ctx, by, limit)
	if err != nil || len(due) == 0 && (soonest.IsZero() || !next.IsZero() && !soonest.Before(next)) {
		return due, next, err
	}
	if err := v.catchUp(ctx); err != nil {
		return nil, next, err
	}
	return v.due(ctx, by, limit)
}

// due is Due by the tables.
func (v *Views) due(ctx context.Context, by time.Time, limit int) (due []view.Ref, next time.Time, err error) {
	due = []view.Ref{}
	err = v.tables.Each(ctx, func(rows *sql.Rows) error {
		var r view.Ref
		var at int64
		if err := rows.Scan(&r.Workspace, &r.Task, &at); err != nil {
			return err
		}
		if at <= by.UnixMicro() && len(due) < limit {
			due = append(due, r)
			return nil
		}
		next = time.UnixMicro(at).UTC()
		return query.ErrEnough // most often nothing is due, and many tasks wait for a time
	}, "SELECT ws, id, due FROM view_task INDEXED BY view_task_due WHERE due IS NOT NULL AND due < ? ORDER BY due, n LIMIT ? | 0", never, limit+1)
	return due, next, err
}

// Cursor implements [view.Cursors].
func (v *Views) Cursor(ctx context.Context, name string) (ledger.Position, error) {
	return v.projector.cursors.Get(name), ctx.Err()
}

// SaveCursor implements [view.Cursors].
func (v *Views) SaveCursor(ctx context.Context, name string, at ledger.Position) error {
	v.projector.cursors.Save(name, at)
	return ctx.Err()
}
