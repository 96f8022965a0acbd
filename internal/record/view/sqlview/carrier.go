package sqlview

import (
	"context"
	"strings"

	"github.com/trapezehq/trapeze/internal/record/view"
)

// carrierSchema is the table of which task carries which conversation along.
const carrierSchema = `
CREATE TABLE view_carrier(ws TEXT NOT NULL, conversation TEXT NOT NULL, task TEXT NOT NULL,
	PRIMARY KEY(ws, conversation, task)) STRICT, WITHOUT ROWID;
CREATE INDEX view_carrier_task ON view_carrier(ws, task);
`

// TasksOf implements [view.Recall]. It looks at the tasks that have not ended, as lists of them do.
func (v *Views) TasksOf(ctx context.Context, workspace, principal string, limit int) ([]string, error) {
	return v.texts(ctx, tasksOf, workspace, strings.TrimPrefix(principal, "agent/"), view.PageSize(limit))
}

const tasksOf = `SELECT t.id FROM view_task AS t INDEXED BY view_task_live WHERE t.ws = ? AND t.live > 0
	AND EXISTS(SELECT 1 FROM view_involved AS i WHERE i.ws = t.ws AND i.agent = ? AND i.task = t.id)
	AND (EXISTS(SELECT 1 FROM view_memory AS m INDEXED BY view_memory_task
			WHERE m.ws = t.ws AND m.task = t.id AND m.task <> '' AND m.scope = 'task')
		OR EXISTS(SELECT 1 FROM view_conversation_task AS k WHERE k.ws = t.ws AND k.task = t.id)
		OR EXISTS(SELECT 1 FROM view_carrier AS k WHERE k.ws = t.ws AND k.task = t.id))
	ORDER BY t.id DESC LIMIT ? | 0`

// Carriers implements [view.Recall].
func (v *Views) Carriers(ctx context.Context, workspace, conversation, principal string, limit int) ([]string, error) {
	query, args := selectCarriers(workspace, conversation, principal, limit)
	return v.texts(ctx, query, args...)
}

func selectCarriers(workspace, conversation, principal string, limit int) (query string, args []any) {
	query, args = "SELECT k.task FROM view_carrier AS k WHERE k.ws = ? AND k.conversation = ?", []any{workspace, conversation}
	if principal != "" {
		query += " AND EXISTS(SELECT 1 FROM view_involved AS i WHERE i.ws = k.ws AND i.agent = ? AND i.task = k.task)" +
			" AND EXISTS(SELECT 1 FROM view_task AS t WHERE t.ws = k.ws AND t.id = k.task AND t.live > 0)"
		args = append(args, strings.TrimPrefix(principal, "agent/"))
	}
	return query + " ORDER BY k.task DESC LIMIT ? | 0", append(args, view.PageSize(limit))
}
