package search

import (
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/conversation/conversationid"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
)

// Reader reads the tables that a [Writer] writes, as [view.MemoryQueries] says. It is safe for concurrent use.
type Reader struct {
	db     *query.DB
	writer *Writer
}

// NewReader returns a reader of the tables of a writer.
func NewReader(db *query.DB, w *Writer) *Reader { return &Reader{db: db, writer: w} }

// clause is a part of a query with its arguments.
type clause struct {
	text string
	args []any
}

func (c *clause) add(text string, args ...any) {
	c.text, c.args = c.text+text, append(c.args, args...)
}

// Memory implements [view.MemoryQueries].
func (r *Reader) Memory(ctx context.Context, workspace string, f view.MemoryFilter) ([]view.MemoryHit, error) {
	if strings.TrimSpace(f.Text) != "" {
		return r.ranked(ctx, workspace, f)
	}
	found := []view.MemoryHit{}
	q, ok := selectMemory(workspace, f)
	if !ok {
		return found, nil
	}
	err := r.db.Each(ctx, func(rows *sql.Rows) error {
		var x view.MemoryHit
		var n int64
		err := rows.Scan(&n, &x.ID)
		x.At = ledger.Position(n) //nolint:gosec // never negative
		found = append(found, x)
		return err
	}, q.text, q.args...)
	return found, err
}

// HasMemory implements [view.MemoryQueries].
func (r *Reader) HasMemory(workspace string) bool {
	_, some := r.writer.remembers.Load(workspace)
	return some
}

// selectMemory selects an index for each search without words; ok is false if nothing can be found. Lists by task,
// conversation, tag or author, and of pinned items, are short enough to filter for items that the caller may read. All other
// searches read only items that it may read: those of the whole workspace, its own, and those in the scope of its tasks.
func selectMemory(workspace string, f view.MemoryFilter) (q clause, ok bool) {
	return listMemory(workspace, f, view.PageSize(f.Limit))
}

// listMemory is selectMemory of at most so many items.
func listMemory(workspace string, f view.MemoryFilter, limit int) (q clause, ok bool) {
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
	q.add(" ORDER BY n DESC LIMIT ? | 0", limit)
	return q, len(legs) > 0
}

// memoryLegs returns disjoint subqueries: "columns FROM table WHERE condition". Each takes its number from the index that
// leads it, so that its rows are in order.
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
		leg(table + "view_memory_conversation WHERE m.ws = ? AND m.named <> ''").mayRead(f.By)
	case f.Tag != "":
		leg("g.n AS n, m.id FROM view_memory_tag AS g CROSS JOIN view_memory AS m ON m.n = g.n WHERE g.ws = ? AND g.tag = ?", f.Tag).mayRead(f.By)
	case f.Author != "":
		leg(table + "view_memory_owner WHERE m.ws = ?").mayRead(f.By)
	case f.Pinned || f.Pinning != memory.NotPinned:
		leg(table + "view_memory_pinned WHERE m.ws = ? AND m.pinned > 0").mayRead(f.By)
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
				f.By.String(), list(f.By.Tasks)).within(f.By)
		}
	}
	return legs
}

// mayRead restricts a query to items that the caller may read, by the rule of [memory.MayRead].
func (c *clause) mayRead(by memory.Reader) {
	if !by.ReadsAny() {
		c.add(" AND (m.scope = 'workspace' OR m.owner = ? OR m.scope = 'task' AND m.task IN (SELECT value FROM json_each(?)))",
			by.String(), list(by.Tasks))
		c.within(by)
	}
}

// within leaves out most of the items of tasks of which the caller reads only those of some times: it knows when an item was written last, not when it was
// begun.
func (c *clause) within(by memory.Reader) {
	if len(by.Spans) == 0 {
		return
	}
	limited, spans := []string{}, [][3]any{}
	for task, of := range by.Spans {
		limited = append(limited, task)
		for _, s := range of {
			until := int64(math.MaxInt64)
			if !s.Until.IsZero() {
				until = s.Until.UnixMicro()
			}
			spans = append(spans, [3]any{task, max(s.From.UnixMicro(), 0), until})
		}
	}
	b, _ := json.Marshal(spans) //nolint:errchkjson // strings and numbers always have JSON
	c.add(` AND (m.scope <> 'task' OR m.owner = ? OR m.task NOT IN (SELECT value FROM json_each(?)) OR EXISTS(
		SELECT 1 FROM json_each(?) AS s WHERE s.value ->> 0 = m.task AND m.written BETWEEN s.value ->> 1 AND s.value ->> 2))`,
		by.String(), list(limited), string(b))
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
	name, ofAgent := conversationid.Parse(f.Conversation)
	equal("named", name)
	if ofAgent != "" {
		equal("conversation", f.Conversation)
	}
	if f.Author != "" && !strings.Contains(f.Author, "/") {
		f.Author = "agent/" + f.Author
	}
	equal("owner", f.Author)
	if f.Tag != "" {
		c.add(" AND EXISTS(SELECT 1 FROM view_memory_tag AS h WHERE h.ws = ? AND h.tag = ? AND h.n = m.n)", workspace, f.Tag)
	}
	if f.Pinned {
		c.add(" AND m.pinned IN (?, ?)", int(memory.AgentPin), int(memory.OperatorPin))
	}
	if f.Pinning != memory.NotPinned {
		c.add(" AND m.pinned = ?", int(f.Pinning))
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

// list encodes an argument of json_each.
func list(of []string) string {
	b, _ := json.Marshal(of) //nolint:errchkjson // strings always have JSON
	return string(b)
}

// Conversations implements [view.MemoryQueries].
func (r *Reader) Conversations(ctx context.Context, workspace string, f view.ConversationFilter) ([]conversation.State, error) {
	states := []conversation.State{}
	if f.By.IsZero() {
		return states, nil
	}
	q := selectConversations(workspace, f)
	err := r.db.Each(ctx, func(rows *sql.Rows) error {
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

// selectConversations selects the conversations in which the caller has spoken, and those to which its tasks give it access.
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
		if f.Name != "" {
			from := conversationid.Of(f.Name, "")
			q.add(" AND c.ws = ? AND (c.id = ? OR c.id > ? AND c.id < ?)", workspace, f.Name, from, from+"\x7f")
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
	case f.Name != "":
		from("c.n AS n, c.state FROM view_conversation AS c WHERE TRUE")
	default:
		from("c.n AS n, c.state FROM view_conversation AS c INDEXED BY view_conversation_ws WHERE c.ws = ?", workspace)
	}
	q.add(" ORDER BY n DESC LIMIT ? | 0", view.PageSize(f.Limit))
	return q
}

// Turns implements [view.MemoryQueries].
func (r *Reader) Turns(ctx context.Context, workspace, id string, after, limit int) ([]conversation.Turn, error) {
	return query.JSON[conversation.Turn](ctx, r.db, `SELECT row FROM view_turn INDEXED BY view_turn_number
		WHERE c = (SELECT n FROM view_conversation WHERE ws = ? AND id = ?) AND turn > ? ORDER BY turn LIMIT ? | 0`,
		workspace, id, after, view.PageSize(limit))
}
