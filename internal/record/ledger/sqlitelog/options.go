package sqlitelog

import (
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/reserve"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
)

// followBatch is the greatest number of entries that are given to a follower at once.
const followBatch = 64

// Options of a log. The zero value is a ledger without views.
type Options struct {
	// Projector maintains views in the same file and the same transactions. May be nil.
	Projector Projector
	// MaxBatch is the greatest number of entries in one transaction; 0 means 1,024.
	MaxBatch int
	// ViewReaders is the greatest number of connections of [Log.Readers], about 1 MB each; 0 means 4.
	ViewReaders int
	// MinFree is the free space, in bytes, below which appends are refused as on a full disk; 0 means 32 MiB,
	// negative means no check. It is what commits, checkpoints and an orderly stop need.
	MinFree int64
	// Committed is called after each commit, which is one fsync of the write-ahead log, with the number of entries in it and the time that
	// it took. Appends wait for it: it must be quick. May be nil.
	Committed func(entries int, took time.Duration)
	// Reserve is the space, in bytes, that a file beside the database keeps on the disk, so that reads of content, which are recorded before
	// they are answered, go on when there is less than MinFree. 0 means none.
	Reserve int64
	// Acknowledged is the position up to which entries are known to have been appended. A file that ends before it has lost entries: it is
	// read, but nothing is written, so that no position is given twice.
	Acknowledged ledger.Position

	// Sealer seals what is appended and opens what is read; the directory then has a format of its own. nil: nothing is sealed.
	Sealer ledger.Sealer
	// Segments have the entries that were put away ([Log.PutAway]); nil: none are attached.
	Segments Segments

	space func(dir string) (int64, error) // of free bytes; nil means that of the file system
}

// Projector maintains views of the entries in the transactions of the ledger. It is called by one goroutine at a time. A
// statement prepared in any of them lives as long as the log. Its tables may lack entries that it has in memory: after a crash it gets those again.
type Projector interface {
	// Setup creates or migrates the tables of the projector, prepares its statements, and returns the position up to
	// which the views are complete, which the projector stores in its own tables. It runs once, in Open, which returns
	// its error.
	Setup(tx *sqlconn.Tx) (ledger.Position, error)
	// Project updates the views with entries, which follow the previous ones in position order and must not be kept or
	// changed, and reports whether the tables have all entries now. On an error all work of this call is undone and the views become stale.
	Project(tx *sqlconn.Tx, entries []ledger.Entry) (written bool, err error)
	// Flush writes what the tables lack.
	Flush(tx *sqlconn.Tx) error
	// Forget is called when the transaction of the last calls is undone: what the tables lack is projected again.
	Forget()
	// Reset empties the views, as if no entry had been seen.
	Reset(tx *sqlconn.Tx) error
}

const (
	defaultMaxBatch    = 1024
	maxBatchBytes      = 8 << 20
	defaultViewReaders = 4
	defaultMinFree     = 32 << 20
	ownReaders         = 2 // connections for Stream, Read and Follow

	applicationID = 0x5452505a // "TRPZ"

	pageSize = 4096
	// The page caches take about twice their size: the allocator of the SQLite driver rounds a page with its header up to 8 KiB.
	// What they do not hold is mostly in the system's cache of the file.
	writerCacheKiB = 4 << 10
	readerCacheKiB = 512
	// checkpointPages is the number of pages in the write-ahead log after which they are copied into the database: more make bulk loads faster, fewer
	// shorten the delay of the appends that wait for a checkpoint (about 5 ms per 1,000 pages).
	checkpointPages = 2000
	followPages     = 4000 // the same of views in a database of their own: a page that changes in many small commits is copied once
	// shortPages is the same while there is little space: the write-ahead log then stays small.
	shortPages = 200
)

func (o Options) withDefaults() Options {
	if o.MaxBatch <= 0 {
		o.MaxBatch = defaultMaxBatch
	}
	if o.ViewReaders <= 0 {
		o.ViewReaders = defaultViewReaders
	}
	if o.MinFree == 0 {
		o.MinFree = defaultMinFree
	}
	if o.space == nil {
		o.space = reserve.Recent(reserve.Free)
	}
	if o.Committed == nil {
		o.Committed = func(int, time.Duration) {}
	}
	return o
}
