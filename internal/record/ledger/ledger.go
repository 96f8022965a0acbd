package ledger

import (
	"context"
	"errors"
	"fmt"
)

// Position is the position of an entry in the global order, from 1. Zero means "before the first entry".
type Position uint64

// Any, as the expected position of an append, disables the compare-and-set. It is only for streams that no decision depends
// on: records of reads and refusals.
const Any = ^Position(0)

// readKey is the key of [ForRead].
type readKey struct{}

// ForRead returns a context for appends without which something could not be read: they are made where others are refused, within bounds on a full
// disk, and in an archived workspace.
func ForRead(ctx context.Context) context.Context { return context.WithValue(ctx, readKey{}, true) }

// IsForRead reports whether ctx comes from [ForRead].
func IsForRead(ctx context.Context) bool { return ctx.Value(readKey{}) != nil }

// MaxEntrySize is the greatest size of an encoded entry, in bytes (2 MiB). A request body of 1 MiB fits even if escaping
// makes its text longer.
const MaxEntrySize = 2 << 20

// Errors of a ledger. Implementations wrap them with the cause; test for them with errors.Is.
var (
	// ErrConflict: the stream no longer ends at the expected position. Nothing was written: reload and decide
	// again, even if the reloaded stream is unchanged (distributed logs report spurious conflicts).
	ErrConflict = errors.New("ledger: stream has moved on")
	// ErrUnknown: the entry may or may not have been written. Read the stream before writing to it again.
	ErrUnknown = errors.New("ledger: outcome unknown")
	// ErrUnavailable: nothing was written, and writes are refused for now (disk full, stopped after an fsync
	// error, no quorum, closed), or what is asked for cannot be read for now. The wrapped text says which.
	ErrUnavailable = errors.New("ledger: unavailable")
	// ErrFull is an ErrUnavailable for lack of space: reads go on, and writes continue as soon as there is space.
	ErrFull = fmt.Errorf("%w: no space", ErrUnavailable)
	// ErrNoMajority is an ErrUnavailable of a record that several servers keep: too few of them answer. Neither reads nor writes go on.
	ErrNoMajority = fmt.Errorf("%w: a majority of the servers that keep it must run and reach each other", ErrUnavailable)
	// ErrBehind is an ErrUnavailable of a read: the replica that answers lacks an entry that the record has.
	ErrBehind = fmt.Errorf("%w: the replica that answers lacks the newest entries", ErrUnavailable)
	// ErrInvalid: the entry, or another argument, breaks a rule of this contract. Nothing was written, and the
	// same call will never succeed.
	ErrInvalid = errors.New("ledger: invalid")
	// ErrTooLarge: the encoded entry exceeds [MaxEntrySize]. Nothing was written.
	ErrTooLarge = errors.New("ledger: entry too large")
)

// Ledger is the record. Every technology passes the same suite, ledgertest.
type Ledger interface {
	// Append makes an entry durable at the end of its stream and returns its position. The entry's Position is
	// ignored. expect is the position of the stream's last entry as the writer knows it: 0 for a new stream, [Any]
	// for no check. An entry of a stream without numbers (version 0) expects Any where it is made, and the one before it
	// where it is copied. Append returns only after the entry is on disk. If ctx ends first the outcome is ErrUnknown,
	// which then wraps ctx.Err(). The ledger keeps e: its slices must not be changed afterwards. With [Any], an entry
	// whose time is before that of the last entry of its stream gets that time: the record of a stream is in order.
	Append(ctx context.Context, e Entry, expect Position) (Position, error)

	// Stream returns up to limit entries of one stream after a position, oldest first. It is linearizable: it
	// sees every append that was acknowledged before the call. A stream that does not exist is empty. A limit
	// below 1 is ErrInvalid, here and in Read.
	Stream(ctx context.Context, stream Stream, after Position, limit int) ([]Entry, error)

	// Read returns up to limit entries of all streams after a position, in position order. It may lag behind
	// acknowledged appends, but never skips one: so none is no sign that the record ends. [Page] tells.
	Read(ctx context.Context, after Position, limit int) ([]Entry, error)

	// Follow calls fn with batches of entries after a position, in position order and without gaps, and waits for
	// more until ctx ends or fn fails; it returns that error. The batch must not be kept or changed by fn.
	Follow(ctx context.Context, after Position, fn func([]Entry) error) error

	// Last returns the position of the newest entry, 0 for an empty ledger. It is linearizable.
	Last(ctx context.Context) (Position, error)

	// Err is nil while the ledger accepts writes; otherwise it says why it does not and what to do.
	Err() error

	// Close stops accepting writes, waits for those in progress, and releases everything. Every later call, and every
	// Follow in progress, returns ErrUnavailable; closing again is harmless.
	Close() error
}
