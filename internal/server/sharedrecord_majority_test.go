package server

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/server/sharedrecord"
)

// A server that has reached the others, and then does not for a while, goes on with its start: it had ended.
func TestAServerThatStartsWaitsForAMajority(t *testing.T) {
	lacking, other := fmt.Errorf("%w: no leader", ledger.ErrNoMajority), errors.New("damaged")
	refused := stream.Unavailable(ledger.ErrBehind)
	for name, test := range map[string]struct {
		lacks time.Duration // for so long there is none
		says  error         // then, and nil if lacking
		then  error
		stops time.Duration // when the caller gives up; 0: never
		want  error
		told  int
	}{
		"it is there":                    {},
		"it comes":                       {lacks: time.Minute, told: 1},
		"use cases refuse":               {lacks: time.Minute, says: stream.Unavailable(lacking), told: 1},
		"they refuse as they are behind": {lacks: time.Minute, says: refused, want: refused},
		"another error":                  {then: other, want: other},
		"another error then":             {lacks: time.Minute, then: other, want: other, told: 1},
		"it never comes":                 {lacks: time.Hour, stops: time.Minute, want: ledger.ErrNoMajority, told: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if test.stops > 0 {
					time.AfterFunc(test.stops, cancel)
				}
				began := time.Now()
				var log bytes.Buffer
				err := sharedrecord.WhenMajority(ctx, slog.New(slog.NewTextHandler(&log, nil)), func() error {
					if time.Since(began) < test.lacks {
						return cmp.Or(test.says, lacking)
					}
					return test.then
				})
				if !errors.Is(err, test.want) || strings.Count(log.String(), "\n") != test.told {
					t.Errorf("%v, %s", err, &log)
				}
			})
		})
	}
}
