package notify

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event/backoff"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// tries is how often a message is sent to one sink, over about three minutes.
const tries = 10

// Cursors has saved positions by name.
type Cursors interface {
	Cursor(ctx context.Context, name string) (ledger.Position, error)
	SaveCursor(ctx context.Context, name string, at ledger.Position) error
}

// Following is how a sink follows the record, at its own pace and from its own saved position: so every message is sent at least once, and
// a slow sink delays no other.
type Following struct {
	Ledger  ledger.Ledger
	Cursors Cursors
	Name    string // of the saved position

	// Begin sends a new sink what holds now, and returns the position of that state.
	Begin func(ctx context.Context) (ledger.Position, error)
	// Means reports whether there may be messages about an entry, and Entry sends them.
	Means func(e *ledger.Entry) bool
	Entry func(ctx context.Context, e *ledger.Entry) error
	// Skipped is told of entries that cannot be read.
	Skipped func(at ledger.Position, err error)
}

// Run follows until ctx ends.
func (f *Following) Run(ctx context.Context) error {
	save := func(at ledger.Position) error { return f.Cursors.SaveCursor(context.WithoutCancel(ctx), f.Name, at) } // what was sent as ctx ended counts
	after, err := f.Cursors.Cursor(ctx, f.Name)
	if err != nil {
		return err
	}
	if after == 0 {
		if after, err = f.Begin(ctx); err != nil {
			return err
		}
		if err := save(after); err != nil {
			return err
		}
	}
	return ledger.FollowPast(ctx, f.Ledger, after, f.Skipped, func(entries []ledger.Entry) error {
		for i := range entries {
			e := &entries[i]
			if !f.Means(e) {
				continue
			}
			if err := f.Entry(ctx, e); err != nil {
				return err
			}
			if err := save(e.Position); err != nil {
				return err
			}
		}
		return save(entries[len(entries)-1].Position)
	})
}

// SendAgain sends a message, and tries again after pauses. One that cannot be sent is logged with what it is about. Its error is that of ctx, if
// that ended before.
func SendAgain(ctx context.Context, log *slog.Logger, s Sink, m Message, about ...any) error {
	for try := 1; ; try++ {
		err := s.Send(ctx, m)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		with := append([]any{"sink", s.Name(), "tries", try, "error", err}, about...)
		if errors.Is(err, ErrRefused) || try == tries {
			log.Error("people could not be notified", with...)
			return nil
		}
		log.Warn("people are notified again after a pause", with...)
		select {
		case <-ctx.Done():
		case <-time.After(backoff.Pause(try-1, 0)):
		}
	}
}
