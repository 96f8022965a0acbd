package sqlview

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/workspace"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
)

const workspaceSchema = `
CREATE TABLE view_workspace(name TEXT PRIMARY KEY, archived INTEGER NOT NULL, state BLOB NOT NULL) STRICT, WITHOUT ROWID;
`

// never is added to the timers of tasks in archived workspaces, in microseconds: no timer is due then, and they cost other workspaces nothing.
const never = int64(1) << 60

const shiftDueQuery = "UPDATE view_task INDEXED BY view_task_live SET due = due + ? WHERE ws = ? AND live > 0 AND due IS NOT NULL"

type workspaceStatements struct {
	putWorkspace, getWorkspace *sqlconn.Stmt
	allArchived, shiftDue      *sqlconn.Stmt
}

// counted is a number in view_count: of the open tasks of a principal, or of the entries of a day.
type counted struct {
	workspace, principal string
	day                  int64
}

// ofDay marks days among principals: none begins with it.
const ofDay = "@"

// writeCounts writes the changes of numbers.
func (p *projector) writeCounts() error {
	return p.late.Numbers(func(c counted, n int) error {
		of := c.principal
		if of == "" {
			of = ofDay + strconv.FormatInt(c.day, 10)
		}
		_, err := p.addCount.Exec(c.workspace, of, n)
		return err
	})
}

// workspaceEntry needs no cache: workspaces rarely change.
func (p *projector) workspaceEntry(name string, e *ledger.Entry) error {
	var s workspace.State
	err := p.getWorkspace.Query(func(row sqlconn.Row) error { return json.Unmarshal(row.Blob(0), &s) }, name)
	if err != nil {
		return err
	}
	was := !s.ArchivedAt.IsZero()
	if err := foldEntry(&s, e, p.workspaces, workspace.Fold); err != nil {
		return err
	}
	if is := !s.ArchivedAt.IsZero(); is != was {
		if err := p.archive(name, is); err != nil {
			return err
		}
	}
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = p.putWorkspace.Exec(name, !s.ArchivedAt.IsZero(), b)
	return err
}

// archive stops the timers of a workspace, or lets them go on.
func (p *projector) archive(name string, is bool) error {
	if err := p.writeTasks(); err != nil { // those before this entry
		return err
	}
	later, err := p.later(name)
	if err != nil {
		return err
	}
	shift := -later
	if p.archived[name] = is; is {
		shift += never
	}
	_, err = p.shiftDue.Exec(shift, name)
	return err
}

// later returns by how much the timers of a workspace are later.
func (p *projector) later(name string) (int64, error) {
	if p.archived == nil {
		p.archived = map[string]bool{}
		if err := p.allArchived.Query(func(row sqlconn.Row) error { p.archived[row.Text(0)] = true; return nil }); err != nil {
			p.archived = nil
			return 0, err
		}
	}
	if p.archived[name] {
		return never, nil
	}
	return 0, nil
}

// MadeWorkspaces implements [view.WorkspaceQueries].
func (v *Views) MadeWorkspaces(ctx context.Context) ([]workspace.State, error) {
	return query.JSON[workspace.State](ctx, v.tables, "SELECT state FROM view_workspace ORDER BY name")
}

// OpenTasks implements [view.WorkspaceQueries].
func (v *Views) OpenTasks(ctx context.Context, workspace string) (int64, error) {
	n, err := query.Int(ctx, v.db, "SELECT coalesce(sum(n), 0) FROM view_count WHERE ws = ? AND of NOT GLOB '@*'", workspace)
	return int64(n), err
}

// AgentCount implements [view.WorkspaceQueries].
func (v *Views) AgentCount(ctx context.Context, workspace string) (int64, error) {
	n, err := query.Int(ctx, v.tables, "SELECT count(*) FROM view_agent WHERE ws = ? AND removed = 0", workspace)
	return int64(n), err
}

// EntriesOn implements [view.WorkspaceQueries].
func (v *Views) EntriesOn(ctx context.Context, workspace string, day time.Time) (int64, error) {
	n, err := query.Int(ctx, v.db, "SELECT n FROM view_count WHERE ws = ? AND of = ?", workspace, ofDay+strconv.FormatInt(view.DayOf(day), 10))
	return int64(n), err
}
