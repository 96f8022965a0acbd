package cli_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/record/proof/taskorder"
	"github.com/trapezehq/trapeze/internal/server"
)

// byTheRules checks that a verifier finds nothing in what the rules have written in a story, with the keys of erasable content and without.
func byTheRules(t *testing.T, dir string) {
	for what, open := range map[string]func() (record, error){
		"with the keys": func() (record, error) { return server.OpenRecord(dir) },
		"without them":  func() (record, error) { return sqlitelog.OpenReader(filepath.Join(dir, "trapeze.db")) },
	} {
		r, err := open()
		if err != nil {
			continue // there is none, or the story has damaged it
		}
		found, err := taskorder.Check(context.Background(), r)
		if _, damaged := errors.AsType[*ledger.Damaged](err); damaged {
			err = nil // or put away: the story says so
		}
		if err = errors.Join(err, r.Close()); err != nil || len(found) > 0 {
			t.Errorf("%s, %s: the rules have written what a verifier says no rule writes: %v, %v", dir, what, found, err)
		}
	}
}

// record is one that is open.
type record interface {
	proof.Record
	io.Closer
}

// forge is for one who has the keys and writes what no rule does.
func forge(ts *testscript.TestScript, _ bool, args []string) {
	ctx, stream := context.Background(), ledger.StreamOf("default", ledger.TaskKind, args[0])
	l, err := sqlitelog.Open(filepath.Join(ts.Getenv("TRAPEZE_DATA"), "trapeze.db"), sqlitelog.Options{})
	ts.Check(err)
	list, err := l.Stream(ctx, stream, 0, 100)
	ts.Check(err)
	last := list[len(list)-1]
	events, err := ledger.NewCodec(event.Events...).EncodeAll([]event.Event{event.Acknowledged{Handoff: 1, Offer: 1, Agent: "eve"}})
	ts.Check(err)
	at, err := l.Append(ctx, ledger.Entry{Stream: stream, Version: last.Version + 1, Time: last.Time, Actor: ledger.Actor{Principal: "agent/eve"}, Events: events}, last.Position)
	ts.Check(errors.Join(err, l.Close()))
	ts.Setenv("FORGED", fmt.Sprint(at))
}
