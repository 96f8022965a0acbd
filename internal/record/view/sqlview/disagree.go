package sqlview

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"sync"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
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
	wrong, err := v.disagreeing(ctx, there)
	if err == nil && len(wrong) > 0 { // an erasure may have come between the two reads
		maps.DeleteFunc(there, func(s ledger.Stream, _ []query.Row) bool { return !wrong[s] })
		wrong, err = v.disagreeing(ctx, there)
	}
	if err != nil {
		return nil, err
	}
	v.maker.wrong = map[ledger.Stream][]query.Row{}
	for s := range wrong {
		list, v.maker.wrong[s] = append(list, s), there[s][:min(len(there[s]), maxWrong)]
	}
	return list, nil
}

// disagreeing returns the streams of which the views do not have the rows that a projector makes, at the position of the views, or have some of those
// given that it does not make. There is nothing to compare with where the ledger is damaged.
func (v *Views) disagreeing(ctx context.Context, there map[ledger.Stream][]query.Row) (map[ledger.Stream]bool, error) {
	have, err := v.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer func() { _ = have.Rollback() }() // nothing to lose
	damaged, err := v.make(ctx, have, there)
	if err != nil {
		return nil, err
	}
	wrong, err := sweep.Differing(ctx, v.maker.db.Readers(), have, there)
	for _, s := range damaged {
		delete(wrong, s)
	}
	return wrong, err
}

// make makes the rows of streams up to the position of the views, and returns the streams that are damaged.
func (v *Views) make(ctx context.Context, have *sql.Tx, there map[ledger.Stream][]query.Row) (damaged []ledger.Stream, err error) {
	var at ledger.Position
	if err := have.QueryRowContext(ctx, "SELECT position FROM view_meta").Scan(&at); err != nil {
		return nil, err
	}
	err = v.maker.db.Write(func(tx *sqlconn.Tx) error {
		p := v.maker.p
		if err := p.Reset(tx); err != nil {
			return err
		}
		p.archived = map[string]bool{} // when a task is due depends on it
		for s := range there {
			workspace, _, _ := s.Parts()
			archived := 0
			if err := have.QueryRowContext(ctx, "SELECT count(*) FROM view_workspace WHERE name = ? AND archived = 1", workspace).Scan(&archived); err != nil {
				return err
			}
			p.archived[workspace] = archived > 0
			p.at = 0 // the first entry may be before the last of another stream
			err := sweep.Entries(ctx, v.ledger, s, at, func(entries []ledger.Entry) error { return p.project(tx, entries) })
			if _, is := errors.AsType[*ledger.Damaged](err); is {
				damaged = append(damaged, s)
			} else if err != nil {
				return err
			}
		}
		return nil
	})
	return damaged, err
}
