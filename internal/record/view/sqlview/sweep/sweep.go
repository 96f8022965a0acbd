package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
)

// Tables are those whose rows are made of one stream each, with the columns of their keys.
var Tables = []struct{ Name, Order string }{
	{"view_task", "n"},
	{"view_child", "ws, parent, task"},
	{"view_rare", "ws, state, task"},
	{"view_inbox", "ws, rest, agent, sender, ord, id"},
	{"view_offer", "ws, id"},
	{"view_involved", "ws, agent, task"},
	{"view_dependent", "ws, needed, task"},
	{"view_claim", "ws, who, handoff"},
	{"view_ticket", "ws, id"},
	{"view_agent", "ws, name"},
	{"view_channel", "ws, name"},
	{"view_token", "ws, id"},
}

// Record is what is read of the ledger.
type Record interface {
	ledger.Reader
	Stream(ctx context.Context, stream ledger.Stream, after ledger.Position, limit int) ([]ledger.Entry, error)
}

const batch = 500 // entries read at once

// Sweep goes through the entries of the record and the rows of the tables. The zero Sweep begins at the first of both.
type Sweep struct {
	at    ledger.Position // of the last entry
	table int
	after []any // the key of the last row; empty: at the beginning of the table
}

// Next returns the streams of up to n entries, and up to n rows by the stream that they should be made of: a row that is missing is found by the
// former, and one that should not be there by the latter. It goes on where it ended, and round.
func (s *Sweep) Next(ctx context.Context, record Record, db query.Querier, n int) (map[ledger.Stream][]query.Row, error) {
	streams := map[ledger.Stream][]query.Row{}
	if err := s.entries(ctx, record, n, streams); err != nil {
		return nil, err
	}
	for seen := 0; n > 0 && seen <= len(Tables); seen++ {
		of := Tables[s.table]
		rows, err := query.Rows(ctx, db, of.Name, of.Order, s.after, n)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			from := source(of.Name, &rows[i])
			streams[from] = append(streams[from], rows[i])
			s.after = s.after[:0]
			for _, name := range strings.Split(of.Order, ", ") {
				s.after = append(s.after, rows[i].Value(name))
			}
		}
		if n -= len(rows); n > 0 {
			s.table, s.after = (s.table+1)%len(Tables), nil
		}
	}
	return streams, nil
}

// entries adds the streams of the next entries. What is damaged has nothing to compare with, and is reported elsewhere.
func (s *Sweep) entries(ctx context.Context, record Record, n int, streams map[ledger.Stream][]query.Row) error {
	if n <= 0 {
		return nil
	}
	entries, err := ledger.Page(ctx, record, s.at, n)
	for i := range entries {
		s.at = entries[i].Position
		if _, kind, _ := entries[i].Stream.Parts(); slices.Contains(kinds, kind) {
			streams[entries[i].Stream] = nil
		}
	}
	damaged, isDamaged := errors.AsType[*ledger.Damaged](err)
	switch {
	case isDamaged:
		s.at = max(s.at+1, damaged.Position)
	case err != nil:
		return err
	case len(entries) == 0:
		s.at = 0
	}
	return nil
}

// kinds are those of the streams that rows of the tables are made of.
var kinds = []string{"task", "agent", "channel", "token"}

// source is the stream that a row of a table should be made of.
func source(table string, r *query.Row) ledger.Stream {
	text := func(name string) string { s, _ := r.Value(name).(string); return s }
	switch kind := strings.TrimPrefix(table, "view_"); kind {
	case "agent", "channel":
		return ledger.StreamOf(text("ws"), kind, text("name"))
	case "token":
		return ledger.StreamOf(identity.DefaultWorkspace, kind, text("id"))
	}
	task := text("task")
	switch item, ok := r.Value("item").([]byte); {
	case ok:
		var of struct{ Task string }
		_ = json.Unmarshal(item, &of)   // then it is made of nothing
		if task = of.Task; task == "" { // it is not about a child
			task, _, _ = strings.Cut(text("id"), ".")
		}
	case text("handoff") != "":
		task, _, _ = event.ParseHandoffID(text("handoff"))
	case task == "":
		task = text("id")
	}
	return ledger.StreamOf(text("ws"), "task", task)
}

// Entries calls do with the entries of a stream up to a position, in order, some at a time.
func Entries(ctx context.Context, record Record, s ledger.Stream, to ledger.Position, do func([]ledger.Entry) error) error {
	if ledger.CheckStream(s) != nil {
		return nil //nolint:nilerr // of a row that is damaged, and made of nothing
	}
	for after := ledger.Position(0); ; {
		entries, err := record.Stream(ctx, s, after, batch)
		if err != nil {
			return err
		}
		more := len(entries) == batch
		if end := slices.IndexFunc(entries, func(e ledger.Entry) bool { return e.Position > to }); end >= 0 {
			entries, more = entries[:end], false
		}
		if len(entries) == 0 {
			return nil
		}
		if err := do(entries); err != nil || !more {
			return err
		}
		after = entries[len(entries)-1].Position
	}
}

// Differing returns the streams of which a database does not have all rows that were made, or has one of those given, which was not made.
func Differing(ctx context.Context, made, have query.Querier, given map[ledger.Stream][]query.Row) (map[ledger.Stream]bool, error) {
	differ := map[ledger.Stream]bool{}
	for _, of := range Tables {
		rows, err := query.Rows(ctx, made, of.Name, of.Order, nil, -1)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			there, err := rows[i].In(ctx, have)
			if err != nil {
				return nil, err
			}
			if !there {
				differ[source(of.Name, &rows[i])] = true
			}
		}
	}
	for s, rows := range given {
		for i := range rows {
			makes, err := rows[i].In(ctx, made)
			if err != nil {
				return nil, err
			}
			if there, err := rows[i].In(ctx, have); err != nil {
				return nil, err
			} else if there && !makes {
				differ[s] = true
			}
		}
	}
	return differ, nil
}
