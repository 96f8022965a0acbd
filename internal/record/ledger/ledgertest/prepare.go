package ledgertest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// prepared is an event of RunPrepares.
type prepared struct{}

// EventName implements [ledger.Named].
func (prepared) EventName() string { return "prepared" }

// RunPrepares tests that a ledger prepares each entry before its followers get it.
func RunPrepares(t *testing.T, open func(t *testing.T, prepare func(*ledger.Entry)) ledger.Ledger) {
	codec := ledger.NewCodec(prepared{})
	l := open(t, func(e *ledger.Entry) { codec.Prepare(e) })
	got, done := make(chan ledger.Entry, 3), errors.New("enough")
	followed := make(chan error, 1)
	go func() {
		followed <- l.Follow(t.Context(), 0, func(entries []ledger.Entry) error {
			for _, e := range entries {
				if got <- e; len(got) == cap(got) {
					return done
				}
			}
			return nil
		})
	}()
	for range cap(got) {
		e := ledger.Entry{
			Stream: "default/task/one", Time: time.Unix(1, 0).UTC(), Actor: ledger.Actor{Principal: "agent/anna"},
			Events: []ledger.Event{{Name: "prepared", Version: 1, Data: []byte("{}")}},
		}
		if _, err := l.Append(context.Background(), e, ledger.Any); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-followed; !errors.Is(err, done) {
		t.Fatal(err)
	}
	for range cap(got) {
		if e := <-got; !e.Events[0].Decoded() {
			t.Errorf("entry %d is not prepared", e.Position)
		}
	}
}
