package sqlitelog

import (
	"errors"
	"fmt"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/frame"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/headcache"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/indexsum"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
)

// writer owns the connection that writes. Its methods run on one goroutine at a time: that of run, or of an append that finds nobody writing.
type writer struct {
	log  *Log
	conn *sqlconn.Conn

	begin, commit, rollback         *sqlconn.Stmt
	addStream, addEntry             *sqlconn.Stmt
	findStream, findHead, readAfter *sqlconn.Stmt

	end        // of the current transaction
	calls bool // the projector was called in it
	pages int  // written since the last checkpoint
	reads bool // only reads are being recorded, on a full disk
}

// end is the end of the log: what the next entry follows.
type end struct {
	last       ledger.Position // of the newest entry
	lastStream int64           // the highest stream number
	index      indexsum.Sum    // over the index of streams
	projected  ledger.Position // of the newest entry in the views
	written    ledger.Position // of the newest entry in their tables
}

func openWriter(l *Log) (_ *writer, err error) {
	c, err := sqlconn.Open(writerDSN(l.path))
	if err != nil {
		return nil, err
	}
	w := &writer{log: l, conn: c}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if err := migrate(c, l.path, l.opts.Sealer != nil); err != nil {
		return nil, err
	}
	if err := w.prepare(); err != nil {
		return nil, err
	}
	last, err := c.Number("SELECT max(position) FROM entries")
	if err != nil {
		return nil, err
	}
	w.last = ledger.Position(last) //nolint:gosec // never negative
	l.health.shortened(w.last, l.opts.Acknowledged)
	if w.lastStream, err = c.Number("SELECT max(stream) FROM entries"); err != nil {
		return nil, err
	}
	if w.index, err = checkIndex(c, w.last); errors.Is(err, ledger.ErrInvalid) {
		err = fmt.Errorf("%w; nothing was changed: run trapeze verify on the directory, and restore it from a backup that verifies", err)
	}
	return w, err
}

func (w *writer) prepare() error {
	for _, p := range []struct {
		stmt  **sqlconn.Stmt
		query string
	}{
		{&w.begin, "BEGIN IMMEDIATE"},
		{&w.commit, "COMMIT"},
		{&w.rollback, "ROLLBACK"},
		{&w.addStream, "INSERT INTO streams(name, id) VALUES(?, ?) ON CONFLICT DO NOTHING"},
		{&w.addEntry, "INSERT INTO entries(position, stream, bytes) VALUES(?, ?, ?)"},
		{&w.findStream, "SELECT id FROM streams WHERE name = ?"},
		{&w.findHead, "SELECT max(position) FROM entries WHERE stream = ?"},
		{&w.readAfter, readQuery},
	} {
		var err error
		if *p.stmt, err = w.conn.Prepare(p.query); err != nil {
			return err
		}
	}
	return nil
}

// run serves the queue until it is closed and empty.
func (w *writer) run() {
	defer close(w.log.finished)
	to := newResponder()
	defer to.close()
	var batch []*request
	for {
		var jobs []func(*writer)
		var open bool
		if batch, jobs, open = w.log.queue.take(batch[:0], w.log.opts.MaxBatch); !open {
			break
		}
		if len(batch) > 0 {
			w.serve(batch, to)
			clear(batch)
		}
		for _, job := range jobs {
			job(w)
		}
		w.checkpoint()
	}
}

// close closes the connection, as the last one: SQLite then copies the write-ahead log into the database. After an
// I/O error it stays open until the process ends, because that copy would ignore the error.
func (w *writer) close() error {
	if w.log.health.broken() {
		return nil
	}
	return w.conn.Close()
}

// serve commits a batch and has its appends answered.
func (w *writer) serve(batch []*request, to *responder) {
	w.commitBatch(batch)
	to.answer(batch)
}

func (w *writer) commitBatch(batch []*request) {
	err := w.log.health.check()
	if err == nil {
		err = w.append(batch)
	}
	if err != nil {
		refuse(batch, err)
	}
	if isFullDisk(err) {
		w.serveReads(batch)
	}
}

func refuse(batch []*request, err error) {
	for _, r := range batch {
		r.position, r.err = 0, err
	}
}

// serveReads commits that without which something cannot be read, which goes on when the disk is full: first records of reads, and
// then, one by one, what has to be decided for a read, such as what a receiver gets of an offer.
func (w *writer) serveReads(batch []*request) {
	var records, decisions []*request
	for _, r := range batch {
		switch {
		case r.expect == ledger.Any:
			records = append(records, r)
		case r.read:
			decisions = append(decisions, r)
		}
	}
	w.reads = true
	defer func() { w.reads = false }()
	if len(records) > 0 {
		w.serveRead(records, leastSpace)
	}
	for i := range decisions {
		w.serveRead(decisions[i:i+1], decisionSpace)
	}
}

// serveRead commits requests on a full disk, if so much space is left.
func (w *writer) serveRead(reads []*request, needed int64) {
	for _, r := range reads {
		r.err = nil
	}
	if err := w.withReserve(needed, func() error { return w.append(reads) }); err != nil {
		refuse(reads, err)
	}
}

// withReserve calls fn, which writes what is needed to read something, if so many bytes are free, and again for as long as the disk is full and the
// reserve has more.
func (w *writer) withReserve(needed int64, fn func() error) error {
	_, err := w.log.health.checkReads(needed)
	if err == nil {
		err = fn()
	}
	for isFullDisk(err) {
		if more, _ := w.log.health.checkReads(needed); !more {
			break
		}
		err = fn()
	}
	return err
}

// append commits the requests that pass their check; the others get an error of their own. An error that it returns is the
// answer to all of them.
func (w *writer) append(batch []*request) error {
	entries := make([]ledger.Entry, 0, len(batch)) // followers keep it: never reused
	size := 0
	var viewErr error
	err := w.transaction(func() (keep bool, err error) {
		for _, r := range batch {
			if r.abandoned.Load() {
				r.err = unknown(errAbandoned)
			} else if r.position, r.err = w.insert(r); r.err == nil {
				r.entry.Position = r.position
				entries, size = append(entries, r.entry), size+r.size
			} else if !errors.Is(r.err, ledger.ErrConflict) {
				return false, r.err
			}
		}
		if len(entries) == 0 {
			return false, nil
		}
		viewErr, err = w.project(entries)
		return viewErr == nil, err
	})
	if err != nil || len(entries) == 0 {
		return err
	}
	if viewErr != nil {
		w.log.heads.Forget()
		w.log.setStale(fmt.Errorf("views end at %d: %w", w.projected, viewErr))
		return w.append(batch) // without the views, which catch up later
	}
	w.committed()
	w.log.tail.Add(entries, size)
	return nil
}

var errAbandoned = errors.New("the caller stopped waiting")

// transaction runs fn between BEGIN and COMMIT, or ROLLBACK if there is nothing to keep. Its errors are answers of
// Append: they say whether anything was written.
func (w *writer) transaction(fn func() (keep bool, err error)) error {
	before := w.end
	abort := func(err error, inCommit bool) error {
		_, _ = w.rollback.Exec() // fails if SQLite has rolled back by itself
		w.undo(before)
		w.log.heads.Forget()
		return w.log.health.classify(err, inCommit)
	}
	if _, err := w.begin.Exec(); err != nil {
		return abort(err, false)
	}
	keep, err := fn()
	if err != nil {
		return abort(err, false)
	}
	if !keep {
		w.undo(before)
		if _, err = w.rollback.Exec(); err != nil {
			return abort(err, false)
		}
		return nil
	}
	start := time.Now()
	if _, err := w.commit.Exec(); err != nil {
		return abort(err, true)
	}
	w.calls = false
	if !w.reads {
		w.log.health.wrote()
	}
	w.log.opts.Committed(int(w.last-before.last), time.Since(start)) //nolint:gosec // a count of entries
	return nil
}

// undo goes back to what was before the transaction.
func (w *writer) undo(before end) {
	w.end = before
	if w.calls {
		w.calls, w.projected = false, w.written
		w.log.opts.Projector.Forget()
		if w.written == w.last { // it lacks nothing
			w.committed()
		}
	}
}

// insert writes one entry if its stream ends where the request expects.
func (w *writer) insert(r *request) (ledger.Position, error) {
	stream := r.entry.Stream
	h, err := w.head(stream, r.expect)
	if err != nil {
		return 0, err
	}
	if r.expect == ledger.Any {
		if err := w.order(r, &h); err != nil {
			return 0, err
		}
	}
	if r.expect != ledger.Any && r.expect != h.Position {
		return 0, fmt.Errorf("%w: %s ends at %d, not %d", ledger.ErrConflict, stream, h.Position, r.expect)
	}
	return w.place(r, h)
}

// place writes an entry at the end of the log and of its stream.
func (w *writer) place(r *request, h headcache.Head) (_ ledger.Position, err error) {
	stream := r.entry.Stream
	if h.ID == 0 {
		if h.ID, err = w.newStream(stream); err != nil {
			return 0, err
		}
	}
	previous := h.Position
	h.Position, h.At = w.last+1, r.entry.Time
	w.index.AddEntry(h.ID, h.Position)
	if err := frame.Seal(r.bytes, r.sum, h.Position, previous, uint64(w.index)); err != nil {
		return 0, err
	}
	if _, err := w.addEntry.Exec(h.Position, h.ID, r.bytes); err != nil {
		return 0, err
	}
	w.last = h.Position
	w.log.heads.Put(stream, h)
	return h.Position, nil
}

// head returns the head of a stream; its id is 0 if the stream does not exist. A stream that is expected to be new is
// created at once: one search of the names instead of two.
func (w *writer) head(stream ledger.Stream, expect ledger.Position) (headcache.Head, error) {
	if h, ok := w.log.heads.Get(stream); ok {
		return h, nil
	}
	if expect == 0 {
		id, err := w.newStream(stream)
		if id != 0 || err != nil {
			return headcache.Head{ID: id}, err
		}
	}
	var h headcache.Head
	err := w.findStream.Query(func(row sqlconn.Row) error { h.ID = row.Int64(0); return nil }, string(stream))
	if err != nil || h.ID == 0 {
		return h, err
	}
	err = w.findHead.Query(func(row sqlconn.Row) error { h.Position = position(row, 0); return nil }, h.ID)
	if err == nil {
		w.log.heads.Put(stream, h)
	}
	return h, err
}

// order gives an entry that is appended without compare-and-set the time of the last entry of its stream, if its own is earlier: its
// writer may have been slower than another, and clocks go back.
func (w *writer) order(r *request, h *headcache.Head) error {
	if h.At.IsZero() && h.Position > 0 { // the first since the stream was last used
		last, err := collect(w.readAfter, chain{last: h.Position - 1, segments: w.log.opts.Segments}, h.Position-1, 1) // its time alone
		if err != nil || len(last) == 0 || last[0].Position != h.Position {
			return nil //nolint:nilerr // a damaged entry does not stop the record of reads
		}
		h.At = last[0].Time
	}
	if !r.entry.Time.Before(h.At) {
		return nil
	}
	r.entry.Time = h.At
	return r.set(r.expect)
}

// newStream returns the number of a new stream, 0 if it exists already.
func (w *writer) newStream(stream ledger.Stream) (int64, error) {
	n, err := w.addStream.Exec(string(stream), w.lastStream+1)
	if err != nil || n == 0 {
		return 0, err
	}
	w.lastStream++
	w.index.AddStream(string(stream), w.lastStream)
	return w.lastStream, nil
}

// transact is Log.Write on the writer's goroutine.
func (w *writer) transact(fn func(*sqlconn.Tx) error) error {
	if err := w.log.health.check(); err != nil {
		return err
	}
	return w.attempt(fn)
}

// transactViews is transact for what the tables of the views lack: they are read on a full disk, too.
func (w *writer) transactViews(fn func(*sqlconn.Tx) error) error {
	return w.withReserve(leastSpace, func() error { return w.attempt(fn) })
}

// attempt is transact without a check of the space: for what mostly writes nothing.
func (w *writer) attempt(fn func(*sqlconn.Tx) error) error {
	var own error
	err := w.transaction(func() (bool, error) {
		if own = fn(w.conn.Tx()); own != nil && isFault(own) {
			return false, own
		}
		return own == nil, nil
	})
	if err != nil {
		return err
	}
	return own
}

// isFault reports whether an error is one of the disk or the database, and not of a statement.
func isFault(err error) bool {
	switch code(err) {
	case codeBusy, codeNoMem, codeReadOnly, codeIOErr, codeCorrupt, codeFull, codeNotADB:
		return true
	}
	return false
}

// grown reports whether the write-ahead log has grown enough for a checkpoint.
func (w *writer) grown() bool {
	pages, err := w.conn.PagesWritten()
	w.pages += pages
	most := checkpointPages
	if w.log.health.isShort() {
		most = shortPages
	}
	return err == nil && w.pages >= most
}

// checkpoint copies the write-ahead log into the database when it has grown enough. The next commit then overwrites the log
// from its start. PASSIVE never waits for readers.
func (w *writer) checkpoint() {
	if !w.grown() || w.log.health.broken() {
		return
	}
	w.pages = 0
	if err := w.conn.Exec("PRAGMA wal_checkpoint(PASSIVE)"); err != nil && !isFull(err) && code(err) != codeBusy {
		_ = w.log.health.classify(err, false)
	}
}
