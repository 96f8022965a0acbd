//go:build slow

package natslog

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// A record may take longer to be restored than a cluster to start: the time for the start begins again when the restore has ended.
func TestARestoreIsWaitedForHoweverLongItTakes(t *testing.T) {
	for name, c := range map[string]struct {
		restored time.Duration // how long a record is restored
		then     error         // what the tries fail with afterwards
		stops    time.Duration // when the caller gives up; 0: never
		want     error
		not      error
		took     time.Duration
	}{
		"restored in twelve minutes":          {restored: 12 * time.Minute, took: 12 * time.Minute},
		"restored, and then nobody answers":   {restored: 12 * time.Minute, then: nats.ErrNoResponders, want: ledger.ErrNoMajority, took: 22 * time.Minute},
		"nobody answers":                      {then: nats.ErrNoResponders, want: ledger.ErrNoMajority, took: 10 * time.Minute},
		"an error that does not pass":         {restored: 12 * time.Minute, then: jetstream.ErrBadRequest, want: jetstream.ErrBadRequest, took: 12 * time.Minute},
		"the caller gives up during the copy": {restored: 12 * time.Minute, stops: time.Minute, want: ErrFilling, not: ledger.ErrNoMajority, took: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := t.Context(), func() {}
				if c.stops > 0 {
					ctx, cancel = context.WithTimeout(ctx, c.stops)
				}
				defer cancel()
				began := time.Now()
				err := WhenReady(ctx, 10*time.Minute, func(context.Context) error {
					if time.Since(began) < c.restored {
						return ErrFilling
					}
					return c.then
				})
				if !errors.Is(err, c.want) || c.not != nil && errors.Is(err, c.not) {
					t.Errorf("%v, want %v", err, c.want)
				}
				if took := time.Since(began); took < c.took-retryAfter || took > c.took+retryAfter {
					t.Errorf("it took %v, want %v", took, c.took)
				}
			})
		})
	}
}

// never is the answer to a message that no server answers.
type never struct{}

func (never) Ok() <-chan *jetstream.PubAck { return nil }
func (never) Err() <-chan error            { return nil }
func (never) Msg() *nats.Msg               { return nil }

func TestACopyEndsWhenNobodyAnswersAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		err := (&copier{last: 3, sent: []jetstream.PubAckFuture{never{}, never{}}}).settle(t.Context(), 0)
		if took := time.Since(began); !errors.Is(err, ledger.ErrNoMajority) || took != silence {
			t.Errorf("after %v: %v", took, err)
		}
	})
	if err := unavailable(jetstream.ErrNoStreamResponse); !errors.Is(err, ledger.ErrNoMajority) {
		t.Error(err)
	}
}
