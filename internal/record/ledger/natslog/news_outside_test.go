//go:build outside

package natslog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natstest"
)

// follow returns the next entries that a follower of a log gets.
func follow(t *testing.T, l *natslog.Log, after ledger.Position) func(n int) []ledger.Entry {
	t.Helper()
	got := make(chan ledger.Entry, 1000)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- l.Follow(ctx, after, func(entries []ledger.Entry) error {
			for _, e := range entries {
				got <- e
			}
			return nil
		})
	}()
	t.Cleanup(func() {
		if cancel(); !errors.Is(<-ended, context.Canceled) {
			t.Error("it has ended before")
		}
	})
	return func(n int) (entries []ledger.Entry) {
		for range n {
			entries = append(entries, <-got)
		}
		return entries
	}
}

// reads counts the requests to replicas for entries of a record.
func reads(t *testing.T, conn *nats.Conn, name string) *atomic.Int64 {
	t.Helper()
	n := new(atomic.Int64)
	if _, err := conn.Subscribe("$JS.API.DIRECT.GET."+name, func(*nats.Msg) { n.Add(1) }); err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	return n
}

// recorded returns the entries of a record after a position, up to its last one: a replica that lags is waited for.
func recorded(t *testing.T, l *natslog.Log, after ledger.Position) (list []ledger.Entry, err error) {
	t.Helper()
	last, err := l.Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = ledger.Through(t.Context(), l, after, last, func(e *ledger.Entry) error { list = append(list, *e); return nil })
	return list, err
}

// add appends entries of tasks, of some hundred bytes each.
func add(t *testing.T, l *natslog.Log, from, to int, text string) {
	t.Helper()
	for i := from; i < to; i++ {
		if _, err := l.Append(t.Context(), ledgertest.NewEntry(ledger.Stream(fmt.Sprint("w/task/", i)), 1, text), 0); err != nil {
			t.Fatal(err)
		}
	}
}

// same reports whether two entries have the same place and bytes.
func same(a, b ledger.Entry) bool {
	return a.Position == b.Position && bytes.Equal(a.AppendStored(nil), b.AppendStored(nil))
}

func TestFollowersGetWhatFrontEndsTellAndReadNothing(t *testing.T) {
	c := natstest.Start(t, 3)
	o := natslog.Options{Name: newName(), Poll: time.Hour}
	one, two := open(t, c, 0, o), open(t, c, 1, o)
	at := [2]func(int) []ledger.Entry{follow(t, one, 0), follow(t, two, 0)}
	add(t, one, 0, 1, "first")
	for i := range at {
		at[i](1) // the first look of the listener is over
	}
	n := reads(t, c.Connect(t, 2), o.Name)
	add(t, one, 1, 100, strings.Repeat("some text ", 30))
	lists := [2][]ledger.Entry{at[0](99), at[1](99)}
	if n.Load() != 0 {
		t.Errorf("the replicas were read %d times", n.Load())
	}
	stored, err := recorded(t, two, 1)
	if err != nil || len(stored) != 99 {
		t.Fatal(len(stored), err)
	}
	for i, list := range lists {
		if !slices.EqualFunc(list, stored, same) {
			t.Errorf("front end %d has other entries than the record", i)
		}
	}
}

func TestALargeEntryAndOneThatIsToldWronglyAreRead(t *testing.T) {
	c := natstest.Start(t, 3)
	o := natslog.Options{Name: newName(), Poll: time.Hour}
	one, two := open(t, c, 0, o), open(t, c, 1, o)
	at := follow(t, two, 0)
	add(t, one, 0, 1, "first")
	at(1)
	conn := c.Connect(t, 1)
	if err := errors.Join(conn.Publish(strings.ToLower(o.Name)+".appended", []byte("\x01somebody\n\x02\x03bad")), conn.Flush()); err != nil {
		t.Fatal(err)
	}
	add(t, one, 1, 2, "the second one, of which something else was told")
	add(t, one, 2, 3, strings.Repeat("x", 500<<10))
	add(t, one, 3, 4, "the last")
	got := at(3)
	stored, err := recorded(t, one, 1)
	if err != nil || !slices.EqualFunc(got, stored, same) {
		t.Errorf("%v, of %d and %d entries", err, len(got), len(stored))
	}
}

func TestAFrontEndIsNotSentWhatItTellsTheOthers(t *testing.T) {
	c := natstest.Start(t, 3)
	o := natslog.Options{Name: newName(), Synced: true}
	conn, other := c.Connect(t, 0), c.Connect(t, 1)
	l, err := natslog.Open(t.Context(), conn, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	subject := strings.ToLower(o.Name) + ".appended"
	own, err := conn.SubscribeSync(subject)
	heard, err2 := other.SubscribeSync(subject)
	if err := errors.Join(err, err2, conn.Flush(), other.Flush()); err != nil {
		t.Fatal(err)
	}
	add(t, l, 0, 1, "first")
	if _, err := heard.NextMsg(time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(); err != nil { // after which it would be there
		t.Fatal(err)
	}
	if n, _, err := own.Pending(); n != 0 || err != nil {
		t.Errorf("%d messages, %v", n, err)
	}
}
