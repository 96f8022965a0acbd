package sqlview

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
)

// ofTasks are the tables that have rows of tasks, one task each. A task's own rows are compared, not those that should not be there.
var ofTasks = []string{"view_task", "view_child", "view_rare", "view_inbox", "view_involved", "view_dependent", "view_claim", "view_ticket"}

// maker makes the rows of a task in a temporary file, as [Compare] does those of all. The zero value is usable.
type maker struct {
	sync.Mutex
	db *sqlitelog.Database
	p  *projector
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
func (v *Views) Disagreeing(ctx context.Context, tasks []ledger.Stream) (list []ledger.Stream, err error) {
	v.maker.Lock()
	defer v.maker.Unlock()
	if err := v.maker.open(v.ledger.Stream); err != nil {
		return nil, err
	}
	for _, s := range tasks {
		agrees, err := v.agrees(ctx, v.maker.db, v.maker.p, s)
		if err == nil && !agrees { // an erasure may have come between the two reads
			agrees, err = v.agrees(ctx, v.maker.db, v.maker.p, s)
		}
		if _, damaged := errors.AsType[*ledger.Damaged](err); damaged { // there is nothing to compare with
			continue
		}
		if err != nil {
			return nil, err
		}
		if !agrees {
			list = append(list, s)
		}
	}
	return list, nil
}

// agrees reports whether the views have the rows that a projector makes of a task, at the position of the views.
func (v *Views) agrees(ctx context.Context, db *sqlitelog.Database, p *projector, task ledger.Stream) (bool, error) {
	have, err := v.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return false, err
	}
	defer func() { _ = have.Rollback() }() // nothing to lose
	var at ledger.Position
	if err := have.QueryRowContext(ctx, "SELECT position FROM view_meta").Scan(&at); err != nil {
		return false, err
	}
	if err := db.Write(func(tx *sqlitelog.Tx) error { return p.Reset(tx) }); err != nil {
		return false, err
	}
	workspace, _, _ := task.Parts()
	archived := 0
	if err := have.QueryRowContext(ctx, "SELECT count(*) FROM view_workspace WHERE name = ? AND archived = 1", workspace).Scan(&archived); err != nil {
		return false, err
	}
	p.archived = map[string]bool{workspace: archived > 0} // when a task is due depends on it
	for after := ledger.Position(0); ; {
		entries, err := v.ledger.Stream(ctx, task, after, loadBatch)
		if err != nil {
			return false, err
		}
		more := len(entries) == loadBatch
		if entries = upTo(entries, at); len(entries) == 0 {
			break
		}
		if err := db.Write(func(tx *sqlitelog.Tx) error { return p.Project(tx, entries) }); err != nil {
			return false, err
		}
		if after = entries[len(entries)-1].Position; !more {
			break
		}
	}
	for _, table := range ofTasks {
		if all, err := query.Contains(ctx, have, db.Readers(), table); err != nil || !all {
			return false, err
		}
	}
	return true, nil
}
