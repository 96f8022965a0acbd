package ledger

import (
	"context"
	"fmt"
	"time"
)

const (
	throughPage = 64               // entries, each of which may have 2 MiB
	throughWait = 10 * time.Second // for an entry that is there
)

// Reader reads entries of all streams, as [Ledger] does.
type Reader interface {
	Read(ctx context.Context, after Position, limit int) ([]Entry, error)
}

// Through calls fn with the entries after a position, up to another one that the record has, in order. It waits for those that Read does not return yet: that may lag
// behind what was acknowledged. Errors: those of Read and fn, and ErrUnavailable if an entry does not come within ten seconds.
func Through(ctx context.Context, r Reader, after, last Position, fn func(*Entry) error) error {
	came, pause := time.Now(), time.Millisecond
	for after < last {
		list, err := r.Read(ctx, after, throughPage)
		for i := range list {
			if after = list[i].Position; after > last {
				return nil
			}
			if err := fn(&list[i]); err != nil {
				return err
			}
		}
		switch {
		case err != nil:
			return err
		case len(list) > 0:
			came, pause = time.Now(), time.Millisecond
			continue
		case time.Since(came) > throughWait:
			return fmt.Errorf("%w: entry %d is there, and is not read yet", ErrUnavailable, after+1)
		}
		select {
		case <-time.After(pause):
			pause = min(2*pause, 100*time.Millisecond)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
