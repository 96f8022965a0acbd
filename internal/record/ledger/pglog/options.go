package pglog

import (
	"fmt"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Options of a log. The zero value is useful.
type Options struct {
	// Schema is the schema of the tables, made of a-z 0-9 _ after a letter; empty means "trapeze". A database can hold several records, each in
	// a schema of its own.
	Schema string
	// MaxBatch is the greatest number of entries in one transaction; 0 means 1,024.
	MaxBatch int
	// Poll is the interval in which the end of the record is looked up, in case a notification was lost; 0 means a second.
	Poll time.Duration
	// Committed is called after each commit with the number of entries in it and the time that it took. Appends wait for it: it must be
	// quick. May be nil.
	Committed func(entries int, took time.Duration)
	// Acknowledged is the position up to which entries are known to have been appended. A record that ends before it has lost entries: it is
	// read, but nothing is written, so that no position is given twice.
	Acknowledged ledger.Position
	// Prepare is called with each entry before the followers get it, such as [ledger.Codec.Prepare]: what it decodes they need not decode each. May be nil.
	Prepare func(*ledger.Entry)

	deaf bool // it does not listen to notifications
}

const (
	defaultMaxBatch = 1024
	maxBatchBytes   = 8 << 20
	maxSchema       = 40 // the name of the channel has a prefix, and must be shorter than 64 bytes
	maxReaders      = 4
	followBatch     = 256 // the greatest number of entries given to a follower at once
	listenBatch     = 256
	busyRound       = 16 // so many new entries at once, and the listener looks for more by itself, until there are fewer than fewRound
	fewRound        = 4

	connectTimeout    = 5 * time.Second
	lockTimeout       = 10 * time.Second       // for the lock, while other front ends commit
	idleInTransaction = 3 * time.Second        // of a transaction whose front end has stopped; others wait for its lock
	slowCommit        = 10 * time.Second       // after which a commit in progress is reported
	closeTimeout      = 10 * time.Second       // for a commit in progress when the log is closed
	retryAfter        = 250 * time.Millisecond // before the next connection of the listener, or read of a follower
)

func (o Options) withDefaults() Options {
	if o.Schema == "" {
		o.Schema = "trapeze"
	}
	if o.MaxBatch <= 0 {
		o.MaxBatch = defaultMaxBatch
	}
	if o.Poll <= 0 {
		o.Poll = time.Second
	}
	if o.Committed == nil {
		o.Committed = func(int, time.Duration) {}
	}
	if o.Prepare == nil {
		o.Prepare = func(*ledger.Entry) {}
	}
	return o
}

func (o Options) check() error {
	ok := len(o.Schema) <= maxSchema && o.Schema[0] >= 'a' && o.Schema[0] <= 'z'
	for i := 0; ok && i < len(o.Schema); i++ {
		c := o.Schema[i]
		ok = c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_'
	}
	if !ok {
		return fmt.Errorf("pglog: schema %.80q: want at most %d of a-z 0-9 _ after a letter", o.Schema, maxSchema)
	}
	return nil
}
