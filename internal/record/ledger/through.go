package ledger

import (
	"context"
	"errors"
	"time"
)

const (
	throughPage = 64               // entries, each of which may have 2 MiB
	behindWait  = 10 * time.Second // for an entry that the record has
)

var errShort = errors.New("the record ends before it")

// Reader reads entries of all streams, as [Ledger] does.
type Reader interface {
	Read(ctx context.Context, after Position, limit int) ([]Entry, error)
	Last(ctx context.Context) (Position, error)
}

// Page returns up to limit entries after a position, and none only at the end of the record. What Read does not return yet, although Last says that it is there, is waited
// for. Errors: those of Read and Last, and ErrBehind if nothing comes within ten seconds.
func Page(ctx context.Context, r Reader, after Position, limit int) ([]Entry, error) {
	pause, end := time.Millisecond, time.Now().Add(behindWait)
	for first := true; ; first = false {
		list, err := r.Read(ctx, after, limit)
		if len(list) > 0 || err != nil {
			return list, err
		}
		if first {
			if last, err := r.Last(ctx); err != nil || last <= after {
				return nil, err
			}
			continue // it may have come meanwhile
		}
		if time.Now().After(end) {
			return nil, ErrBehind
		}
		select {
		case <-time.After(pause):
			pause = min(2*pause, 100*time.Millisecond)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Through calls fn with the entries after a position, up to another one that the record has, in order. Errors: those of [Page] and fn, and a [Damaged] if the record ends before.
func Through(ctx context.Context, r Reader, after, last Position, fn func(*Entry) error) error {
	for after < last {
		list, err := Page(ctx, r, after, throughPage)
		for i := range list {
			if after = list[i].Position; after > last {
				return nil
			}
			if err := fn(&list[i]); err != nil {
				return err
			}
		}
		if err == nil && len(list) == 0 {
			err = &Damaged{Position: after + 1, Err: errShort}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
