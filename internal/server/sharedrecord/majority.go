package sharedrecord

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// majorityEvery is the time between two tries.
const majorityEvery = time.Second

// WhenMajority calls fn, and again while no majority of the servers of the record answers, as when others start at the same time: a server that starts waits for them.
func WhenMajority(ctx context.Context, log *slog.Logger, fn func() error) error {
	for told := false; ; {
		err := fn()
		if !errors.Is(err, ledger.ErrNoMajority) {
			return err
		}
		if !told {
			told = true
			log.Warn("this server waits for a majority of those that keep the record", "error", err)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(majorityEvery):
		}
	}
}
