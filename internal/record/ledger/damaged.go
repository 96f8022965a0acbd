package ledger

import (
	"context"
	"errors"
	"fmt"
)

// Damaged is the error of a read that finds an entry that was changed, or one missing: those before it come with the error, and a read after
// its position goes on.
type Damaged struct {
	Position Position
	Err      error // why it cannot be decoded
}

func (d *Damaged) Error() string {
	return fmt.Sprintf("ledger: entry %d is damaged: %v", d.Position, d.Err)
}

func (d *Damaged) Unwrap() error { return d.Err }

// EntryError is the error of an entry from which no view can be made.
type EntryError struct {
	Position Position
	Stream   Stream
	Err      error
}

func (e *EntryError) Error() string {
	return fmt.Sprintf("view of entry %d in %s: %v", e.Position, e.Stream, e.Err)
}

func (e *EntryError) Unwrap() error { return e.Err }

// Place returns the position of the entry, and what is wrong with it.
func (e *EntryError) Place() (Position, string) {
	return e.Position, fmt.Sprintf("no view can be made of this entry of %s: %v", e.Stream, e.Err)
}

// Scanned is an entry that was read and decoded in two steps, and its stored bytes; or the error of one that is damaged or put away.
type Scanned struct {
	Entry  Entry
	Stored []byte
	Err    error
	// Misplaced reports that what is stored with the entry says of its place another thing than the entries before it, if those are whole.
	Misplaced bool
}

// FollowPast follows a ledger as its Follow does, and goes on after damaged entries: one of them must not stop a follower, and with it what the
// server does for all others. skipped is told of each.
func FollowPast(ctx context.Context, l Ledger, after Position, skipped func(at Position, err error), fn func([]Entry) error) error {
	for {
		var own error // of fn: it may have found another entry damaged
		err := l.Follow(ctx, after, func(entries []Entry) error {
			if own = fn(entries); own == nil {
				after = entries[len(entries)-1].Position
			}
			return own
		})
		d, damaged := errors.AsType[*Damaged](err)
		if own != nil || !damaged || d.Position <= after {
			return err
		}
		skipped(d.Position, err)
		after = d.Position
	}
}
