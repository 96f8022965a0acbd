package ledgertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

var keys atomic.Uint64

// NewEntry returns a valid entry with one event "noted", whose data is {"text":text}, and a key that is unique in this
// process.
func NewEntry(stream ledger.Stream, version uint64, text string) ledger.Entry {
	data, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		panic(err) // a map of strings always has JSON
	}
	return ledger.Entry{
		Stream:  stream,
		Version: version,
		Time:    time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC),
		Actor:   ledger.Actor{Principal: "agent/tester"},
		Key:     fmt.Sprintf("key-%d", keys.Add(1)),
		Request: "request",
		Events:  []ledger.Event{{Name: "noted", Version: 1, Data: data}},
	}
}

// KiB returns an entry whose payload is 1 KiB, for benchmarks.
func KiB(stream ledger.Stream, version uint64) ledger.Entry {
	return NewEntry(stream, version, kibText)
}

var kibText = strings.Repeat("context for the next agent; ", 37)[:1024-len(`[{"text":""}]`)]

// Put appends as a client must that needs to know the outcome: after ErrUnknown or ErrConflict it reads the stream, looks
// for its own entry by its key, and tries again if the stream still ends at the expected position. It returns ErrConflict
// only if there is an entry of another writer.
func Put(ctx context.Context, l ledger.Ledger, e ledger.Entry, expect ledger.Position) (ledger.Position, error) {
	for {
		p, err := l.Append(ctx, e, expect)
		if err == nil || ctx.Err() != nil || !errors.Is(err, ledger.ErrUnknown) && !errors.Is(err, ledger.ErrConflict) {
			return p, err
		}
		after := expect
		if expect == ledger.Any {
			after = 0
		}
		p, others, readErr := find(ctx, l, e, after)
		switch {
		case readErr != nil:
			return 0, errors.Join(err, readErr)
		case p != 0:
			return p, nil
		case others && expect != ledger.Any:
			return 0, fmt.Errorf("%w: another entry follows %d in %s", ledger.ErrConflict, expect, e.Stream)
		}
	}
}

// find looks for e by its key among the entries of its stream after a position; others reports whether it found any other.
func find(ctx context.Context, l ledger.Ledger, e ledger.Entry, after ledger.Position) (p ledger.Position, others bool, err error) {
	for {
		entries, err := l.Stream(ctx, e.Stream, after, 100)
		if err != nil || len(entries) == 0 {
			return 0, others, err
		}
		for _, got := range entries {
			if got.Key == e.Key {
				return got.Position, others, nil
			}
			others, after = true, got.Position
		}
	}
}
