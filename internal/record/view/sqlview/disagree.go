package sqlview

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/sweep"
)

// maxWrong is the number of rows that are kept of a stream until they are looked at again.
const maxWrong = 100

// maker makes the rows of a stream in a temporary file, as [Compare] does those of all. The zero value is usable.
type maker struct {
	sync.Mutex
	db *sqlitelog.Database
	p  *projector

	sweep sweep.Sweep
	wrong map[ledger.Stream][]query.Row // that the last call of Disagreeing looked at, of streams that it returned
}

// close closes the file. It is opened again when it is needed.
func (m *maker) close() (err error) {
	if m.db != nil {
		err = m.db.Close()
	}
	m.db, m.p = nil, nil
	return err
}

// Purge gives up the temporary file of [Views.Disagreeing]: it may have content that was erased since.
func (v *Views) Purge() error {
	v.maker.Lock()
	defer v.maker.Unlock()
	return v.maker.close()
}

// Disagreeing implements [view.Counts].
func (v *Views) Disagreeing(ctx context.Context, streams []ledger.Stream, more int) (list []ledger.Stream, err error) {
	v.maker.Lock()
	defer v.maker.Unlock()
	if v.maker.db == nil {
		if v.maker.db, v.maker.p, err = openTemporary(v.ledger); err != nil {
			return nil, err
		}
	}
	defer func() {
		if err != nil { // a connection that was interrupted is not opened again
			_ = v.maker.close()
		}
	}()
	there, err := v.maker.sweep.Next(ctx, v.ledger, v.readers, more)
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
	return sweep.AllIn(ctx, of, have)
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
