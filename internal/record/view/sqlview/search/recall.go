package search

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// Query runs a query and calls each for every row. It may keep the query prepared: there are few shapes of most, and very
// many of searches.
type Query func(ctx context.Context, each func(*sql.Rows) error, query string, args ...any) error

// Recall answers questions about what is known, as [view.Recall] says. It is safe for concurrent use.
type Recall struct {
	query  Query
	writer *Writer
}

// NewRecall returns the answers of tables that a writer writes.
func NewRecall(query Query, w *Writer) *Recall { return &Recall{query: query, writer: w} }

// clause is a part of a query with its arguments.
type clause struct {
	text string
	args []any
}

func (c *clause) add(text string, args ...any) {
	c.text, c.args = c.text+text, append(c.args, args...)
}

// Memory implements [view.Recall].
func (r *Recall) Memory(ctx context.Context, workspace string, f view.MemoryFilter) ([]view.Found, error) {
	if strings.TrimSpace(f.Text) != "" {
		return r.ranked(ctx, workspace, f)
	}
	found := []view.Found{}
	q, ok := selectMemory(workspace, f)
	if !ok {
		return found, nil
	}
	err := r.query(ctx, func(rows *sql.Rows) error {
		var x view.Found
		var n int64
		err := rows.Scan(&n, &x.ID)
		x.At = ledger.Position(n) //nolint:gosec // never negative
		found = append(found, x)
		return err
	}, q.text, q.args...)
	return found, err
}

// Remembers implements [view.Recall].
func (r *Recall) Remembers(workspace string) bool {
	_, some := r.writer.remembers.Load(workspace)
	return some
}

// selectMemory leads each question without words to an index; it is not ok where nothing can be found. Lists of what a task,
// a conversation, a tag or an author has, and of what is pinned, are short enough to be looked through for what the asker
// may read. Everything else is read where the asker may: what is for all, what is its own, and what is in the scope of its
// tasks.
func selectMemory(workspace string, f view.MemoryFilter) (q clause, ok bool) {
	if f.By.IsZero() {
		return q, false
	}
	legs := memoryLegs(workspace, f)
	for i, leg := range legs {
		if i > 0 {
			q.add(" UNION ALL ")
		}
		q.add("SELECT "+leg.text, leg.args...)
		q.narrow(workspace, f)
	}
	q.add(" ORDER BY n DESC LIMIT ? | 0", view.PageSize(f.Limit))
	return q, len(legs) > 0
}

// memoryLegs are the places to look at, which have nothing in common: "columns FROM table WHERE condition". Each takes
// its number from the index that it is led by, so that it comes in order.
func memoryLegs(workspace string, f view.MemoryFilter) (legs []clause) {
	leg := func(text string, args ...any) *clause {
		legs = append(legs, clause{text, append([]any{workspace}, args...)})
		return &legs[len(legs)-1]
	}
	const table = "m.n AS n, m.id FROM view_memory AS m INDEXED BY "
	switch {
	case f.Task != "":
		leg(table + "view_memory_task WHERE m.ws = ? AND m.task <> ''").mayRead(f.By)
	case f.Conversation != "":
		leg(table + "view_memory_conversation WHERE m.ws = ? AND m.conversation <> ''").mayRead(f.By)
	case f.Tag != "":
		leg("g.n AS n, m.id FROM view_memory_tag AS g CROSS JOIN view_memory AS m ON m.n = g.n WHERE g.ws = ? AND g.tag = ?", f.Tag).mayRead(f.By)
	case f.Author != "":
		leg(table + "view_memory_owner WHERE m.ws = ?").mayRead(f.By)
	case f.Pinned:
		leg(table + "view_memory_pinned WHERE m.ws = ? AND m.pinned = 1").mayRead(f.By)
	case f.By.ReadsAny():
		for _, scope := range [...]memory.Scope{memory.Private, memory.Task, memory.Workspace} {
			if f.Scope == "" || f.Scope == scope {
				leg(table+"view_memory_scope WHERE m.ws = ? AND m.scope = ?", string(scope))
			}
		}
	default:
		if f.Scope == "" || f.Scope == memory.Workspace {
			leg(table+"view_memory_scope WHERE m.ws = ? AND m.scope = 'workspace'", nil...)
		}
		if f.Scope != memory.Workspace {
			leg(table+"view_memory_owner WHERE m.ws = ? AND m.scope <> 'workspace' AND m.owner = ?", f.By.String())
		}
		if len(f.By.Tasks) > 0 && (f.Scope == "" || f.Scope == memory.Task) {
			leg(table+"view_memory_task WHERE m.ws = ? AND m.task <> '' AND m.scope = 'task' AND m.owner <> ? AND m.task IN (SELECT value FROM json_each(?))",
				f.By.String(), list(f.By.Tasks))
		}
	}
	return legs
}

// mayRead leaves what the asker may read, as [memory.MayRead] says.
func (c *clause) mayRead(by memory.Reader) {
	if !by.ReadsAny() {
		c.add(" AND (m.scope = 'workspace' OR m.owner = ? OR m.scope = 'task' AND m.task IN (SELECT value FROM json_each(?)))",
			by.String(), list(by.Tasks))
	}
}

// narrow adds the conditions of a filter.
func (c *clause) narrow(workspace string, f view.MemoryFilter) {
	equal := func(column, value string) {
		if value != "" {
			c.add(" AND m."+column+" = ?", value)
		}
	}
	equal("scope", string(f.Scope))
	equal("task", f.Task)
	equal("conversation", f.Conversation)
	if f.Author != "" && !strings.Contains(f.Author, "/") {
		f.Author = "agent/" + f.Author
	}
	equal("owner", f.Author)
	if f.Tag != "" {
		c.add(" AND EXISTS(SELECT 1 FROM view_memory_tag AS h WHERE h.ws = ? AND h.tag = ? AND h.n = m.n)", workspace, f.Tag)
	}
	if f.Pinned {
		c.add(" AND m.pinned = 1")
	}
	if !f.Since.IsZero() {
		c.add(" AND m.written >= ?", f.Since.UnixMicro())
	}
	if !f.Until.IsZero() {
		c.add(" AND m.written < ?", f.Until.UnixMicro())
	}
	if f.After > 0 {
		c.add(" AND m.n < ?", int64(min(f.After, 1<<62))) //nolint:gosec // it fits
	}
}

// list is an argument for json_each.
func list(of []string) string {
	b, _ := json.Marshal(of) //nolint:errchkjson // strings always have JSON
	return string(b)
}

// Conversations implements [view.Recall].
func (r *Recall) Conversations(ctx context.Context, workspace string, f view.ConversationFilter) ([]conversation.State, error) {
	states := []conversation.State{}
	if f.By.IsZero() {
		return states, nil
	}
	q := selectConversations(workspace, f)
	err := r.query(ctx, func(rows *sql.Rows) error {
		var n int64
		var b sql.RawBytes
		if err := rows.Scan(&n, &b); err != nil {
			return err
		}
		var s conversation.State
		err := json.Unmarshal(b, &s)
		states = append(states, s)
		return err
	}, q.text, q.args...)
	return states, err
}

// selectConversations reads those in which the asker has spoken, and beside them those that its tasks give it.
func selectConversations(workspace string, f view.ConversationFilter) (q clause) {
	const spoken = "s.n AS n, c.state FROM view_conversation_speaker AS s CROSS JOIN view_conversation AS c ON c.n = s.n WHERE s.ws = ? AND s.agent = ?"
	name := f.By.Agent()
	from := func(text string, args ...any) {
		if q.text != "" {
			q.add(" UNION ALL ")
		}
		q.add("SELECT "+text, args...)
		if f.Agent != "" {
			q.add(" AND EXISTS(SELECT 1 FROM view_conversation_speaker AS o WHERE o.ws = ? AND o.agent = ? AND o.n = c.n)", workspace, f.Agent)
		}
		if f.Task != "" {
			q.add(" AND EXISTS(SELECT 1 FROM view_conversation_task AS t WHERE t.ws = ? AND t.task = ? AND t.n = c.n)", workspace, f.Task)
		}
		if f.After != "" {
			q.add(" AND c.n < (SELECT n FROM view_conversation WHERE ws = ? AND id = ?)", workspace, f.After)
		}
	}
	switch {
	case !f.By.ReadsAny():
		from(spoken, workspace, name)
		from(`c.n AS n, c.state FROM view_conversation AS c WHERE c.n IN (
				SELECT n FROM view_conversation_task WHERE ws = ? AND task IN (SELECT value FROM json_each(?))
				UNION SELECT n FROM view_conversation WHERE ws = ? AND id IN (SELECT value FROM json_each(?)))
			AND NOT EXISTS(SELECT 1 FROM view_conversation_speaker AS s WHERE s.ws = ? AND s.agent = ? AND s.n = c.n)`,
			workspace, list(f.By.Tasks), workspace, list(f.By.Conversations), workspace, name)
	case f.Task != "":
		from("k.n AS n, c.state FROM view_conversation_task AS k CROSS JOIN view_conversation AS c ON c.n = k.n WHERE k.ws = ? AND k.task = ?", workspace, f.Task)
	case f.Agent != "":
		from(spoken, workspace, f.Agent)
	default:
		from("c.n AS n, c.state FROM view_conversation AS c INDEXED BY view_conversation_ws WHERE c.ws = ?", workspace)
	}
	q.add(" ORDER BY n DESC LIMIT ? | 0", view.PageSize(f.Limit))
	return q
}

// Turns implements [view.Recall].
func (r *Recall) Turns(ctx context.Context, workspace, id string, after, limit int) ([]conversation.Turn, error) {
	turns := []conversation.Turn{}
	err := r.query(ctx, func(rows *sql.Rows) error {
		var b sql.RawBytes
		if err := rows.Scan(&b); err != nil {
			return err
		}
		var t conversation.Turn
		err := json.Unmarshal(b, &t)
		turns = append(turns, t)
		return err
	}, `SELECT row FROM view_turn INDEXED BY view_turn_number
		WHERE c = (SELECT n FROM view_conversation WHERE ws = ? AND id = ?) AND turn > ? ORDER BY turn LIMIT ? | 0`,
		workspace, id, after, view.PageSize(limit))
	return turns, err
}
