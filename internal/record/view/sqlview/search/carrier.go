package search

import (
	"context"
	"strings"

	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
)

// CarrierSchema is the table of the tasks that name a conversation as theirs.
const CarrierSchema = `
CREATE TABLE view_carrier(ws TEXT NOT NULL, conversation TEXT NOT NULL, task TEXT NOT NULL,
	PRIMARY KEY(ws, conversation, task)) STRICT, WITHOUT ROWID;
CREATE INDEX view_carrier_task ON view_carrier(ws, task);
`

// GrantingTasks implements [view.MemoryQueries]. It reads the tasks that have not ended, by the index of their lists.
func (r *Reader) GrantingTasks(ctx context.Context, workspace, principal string, limit int) ([]string, error) {
	return query.Texts(ctx, r.db, Granting, workspace, strings.TrimPrefix(principal, "agent/"), view.PageSize(limit))
}

// Granting is the query of [Reader.GrantingTasks].
const Granting = `SELECT t.id FROM view_task AS t INDEXED BY view_task_live WHERE t.ws = ? AND t.live > 0
	AND EXISTS(SELECT 1 FROM view_involved AS i WHERE i.ws = t.ws AND i.agent = ? AND i.task = t.id)
	AND (EXISTS(SELECT 1 FROM view_memory AS m INDEXED BY view_memory_task
			WHERE m.ws = t.ws AND m.task = t.id AND m.task <> '' AND m.scope = 'task')
		OR EXISTS(SELECT 1 FROM view_conversation_task AS k WHERE k.ws = t.ws AND k.task = t.id)
		OR EXISTS(SELECT 1 FROM view_carrier AS k WHERE k.ws = t.ws AND k.task = t.id))
	ORDER BY t.id DESC LIMIT ? | 0`

// TasksOfConversation implements [view.MemoryQueries].
func (r *Reader) TasksOfConversation(ctx context.Context, workspace, conversation, principal string, limit int) ([]string, error) {
	q, args := Carriers(workspace, conversation, principal, limit)
	return query.Texts(ctx, r.db, q, args...)
}

// Carriers is the query of [Reader.TasksOfConversation].
func Carriers(workspace, conversation, principal string, limit int) (q string, args []any) {
	q, args = "SELECT k.task FROM view_carrier AS k WHERE k.ws = ? AND k.conversation = ?", []any{workspace, conversation}
	if principal != "" {
		q += " AND EXISTS(SELECT 1 FROM view_involved AS i WHERE i.ws = k.ws AND i.agent = ? AND i.task = k.task)" +
			" AND EXISTS(SELECT 1 FROM view_task AS t WHERE t.ws = k.ws AND t.id = k.task AND t.live > 0)"
		args = append(args, strings.TrimPrefix(principal, "agent/"))
	}
	return q + " ORDER BY k.task DESC LIMIT ? | 0", append(args, view.PageSize(limit))
}
