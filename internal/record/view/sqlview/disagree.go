package sqlview

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"sync"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
)

// made are the tables whose rows are made of one stream each, with the columns of their key and the kind of the stream. The others count, or are
// found by [Compare] alone.
var made = []struct {
	table, kind string
	key         []string
}{
	{"view_task", "task", []string{"n"}},
	{"view_child", "task", []string{"ws", "parent", "task"}},
	{"view_rare", "task", []string{"ws", "state", "task"}},
	{"view_inbox", "task", []string{"ws", "agent", "sender", "ord", "id"}},
	{"view_involved", "task", []string{"ws", "agent", "task"}},
	{"view_dependent", "task", []string{"ws", "needed", "task"}},
	{"view_claim", "task", []string{"ws", "who", "handoff"}},
	{"view_ticket", "task", []string{"ws", "id"}},
	{"view_agent", "agent", []string{"ws", "name"}},
	{"view_channel", "channel", []string{"ws", "name"}},
	{"view_token", "token", []string{"ws", "id"}},
}

// maxWrong is the number of rows that are kept of a stream until they are looked at again.
const maxWrong = 100

// maker makes the rows of a stream in a temporary file, as [Compare] does those of all. The zero value is usable.
type maker struct {
	sync.Mutex
	db *sqlitelog.Database
	p  *projector

	table int                           // of the next row that is looked at
	after []any                         // its key
	wrong map[ledger.Stream][]query.Row // that the last call of Disagreeing looked at, of streams that it returned
}

// open opens the file, if it is not open.
func (m *maker) open(load loader) (err error) {
	if m.db != nil {
		return nil
	}
	m.db, m.p, err = openTemporary(load)
	return err
}

// close closes the file. It is opened again when it is needed.
func (m *maker) close() (err error) {
	m.Lock()
	defer m.Unlock()
	if m.db != nil {
		err = m.db.Close()
	}
	m.db, m.p = nil, nil
	return err
}

// Disagreeing implements [view.Counts].
func (v *Views) Disagreeing(ctx context.Context, streams []ledger.Stream, more int) (list []ledger.Stream, err error) {
	v.maker.Lock()
	defer v.maker.Unlock()
	if err := v.maker.open(v.ledger.Stream); err != nil {
		return nil, err
	}
	there, err := v.next(ctx, more)
	if err != nil {
		return nil, err
	}
	for _, s := range streams {
		there[s] = append(there[s], v.maker.wrong[s]...)
	}
	v.maker.wrong = map[ledger.Stream][]query.Row{}
	for s, rows := range there {
		agrees, err := v.agrees(ctx, s, rows)
		if err == nil && !agrees { // an erasure may have come between the two reads
			agrees, err = v.agrees(ctx, s, rows)
		}
		if _, damaged := errors.AsType[*ledger.Damaged](err); damaged { // there is nothing to compare with
			continue
		}
		if err != nil {
			return nil, err
		}
		if !agrees {
			list, v.maker.wrong[s] = append(list, s), rows[:min(len(rows), maxWrong)]
		}
	}
	return list, nil
}

// next returns up to n rows of the tables, by the stream that they should be made of. It goes on where it ended, and round.
func (v *Views) next(ctx context.Context, n int) (map[ledger.Stream][]query.Row, error) {
	m, streams := &v.maker, map[ledger.Stream][]query.Row{}
	for tables := 0; n > 0 && tables <= len(made); tables++ {
		of := made[m.table]
		rows, err := query.Rows(ctx, v.readers, of.table, of.key, m.after, n)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			s := source(of.kind, &rows[i])
			streams[s] = append(streams[s], rows[i])
			m.after = m.after[:0]
			for _, name := range of.key {
				m.after = append(m.after, rows[i].Value(name))
			}
		}
		if n -= len(rows); n > 0 {
			m.table, m.after = (m.table+1)%len(made), nil
		}
	}
	return streams, nil
}

// source is the stream that a row should be made of.
func source(kind string, r *query.Row) ledger.Stream {
	text := func(name string) string { s, _ := r.Value(name).(string); return s }
	switch kind {
	case "agent", "channel":
		return ledger.StreamOf(text("ws"), kind, text("name"))
	case "token":
		return ledger.StreamOf(identity.DefaultWorkspace, kind, text("id"))
	}
	task := text("task")
	switch item, ok := r.Value("item").([]byte); {
	case ok:
		var of struct{ Task string }
		_ = json.Unmarshal(item, &of) // then it is made of nothing
		task = of.Task
	case text("handoff") != "":
		task, _, _ = event.ParseHandoffID(text("handoff"))
	case task == "":
		task = text("id")
	}
	return ledger.StreamOf(text("ws"), kind, task)
}

// agrees reports whether the views have the rows that a projector makes of a stream, at the position of the views, and whether it makes some of theirs.
func (v *Views) agrees(ctx context.Context, s ledger.Stream, rows []query.Row) (bool, error) {
	have, err := v.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return false, err
	}
	defer func() { _ = have.Rollback() }() // nothing to lose
	if err := v.make(ctx, have, s); err != nil {
		return false, err
	}
	of := v.maker.db.Readers()
	for i := range rows {
		makes, err := rows[i].In(ctx, of)
		if err != nil {
			return false, err
		}
		if there, err := rows[i].In(ctx, have); err != nil || there && !makes {
			return false, err
		}
	}
	return v.hasMade(ctx, have)
}

// make makes the rows of a stream up to the position of the views.
func (v *Views) make(ctx context.Context, have *sql.Tx, s ledger.Stream) error {
	db, p := v.maker.db, v.maker.p
	var at ledger.Position
	if err := have.QueryRowContext(ctx, "SELECT position FROM view_meta").Scan(&at); err != nil {
		return err
	}
	if err := db.Write(func(tx *sqlitelog.Tx) error { return p.Reset(tx) }); err != nil {
		return err
	}
	workspace, _, _ := s.Parts()
	archived := 0
	if err := have.QueryRowContext(ctx, "SELECT count(*) FROM view_workspace WHERE name = ? AND archived = 1", workspace).Scan(&archived); err != nil {
		return err
	}
	p.archived = map[string]bool{workspace: archived > 0} // when a task is due depends on it
	if ledger.CheckStream(s) != nil {
		return nil //nolint:nilerr // of a row that is damaged, and made of nothing
	}
	for after := ledger.Position(0); ; {
		entries, err := v.ledger.Stream(ctx, s, after, loadBatch)
		if err != nil {
			return err
		}
		more := len(entries) == loadBatch
		if entries = upTo(entries, at); len(entries) == 0 {
			return nil
		}
		if err := db.Write(func(tx *sqlitelog.Tx) error { return p.Project(tx, entries) }); err != nil {
			return err
		}
		if after = entries[len(entries)-1].Position; !more {
			return nil
		}
	}
}

// hasMade reports whether the views have all rows that were made.
func (v *Views) hasMade(ctx context.Context, have *sql.Tx) (bool, error) {
	for _, of := range made {
		rows, err := query.Rows(ctx, v.maker.db.Readers(), of.table, of.key, nil, -1)
		if err != nil {
			return false, err
		}
		for i := range rows {
			if there, err := rows[i].In(ctx, have); err != nil || !there {
				return false, err
			}
		}
	}
	return true, nil
}
