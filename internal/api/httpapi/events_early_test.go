package httpapi_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/usecase"
)

// early is a record whose followers have an entry before its writer does.
type early struct {
	ledger.Ledger
	on   atomic.Bool   // entries of tasks are held back
	held chan struct{} // until it is closed
}

func (l *early) Append(ctx context.Context, e ledger.Entry, expect ledger.Position) (ledger.Position, error) {
	at, err := l.Ledger.Append(ctx, e, expect)
	if _, kind, _ := e.Stream.Parts(); l.on.Load() && kind == "task" {
		<-l.held
	}
	return at, err
}

// TestAPersonIsToldOfATicketBeforeItsWriterKnows: a person is told of the first ticket of a task also before its writer has the state after it, as happens on a machine that is busy.
func TestAPersonIsToldOfATicketBeforeItsWriterKnows(t *testing.T) {
	record := &early{held: make(chan struct{})}
	h := openOn(t, func(l ledger.Ledger) ledger.Ledger { record.Ledger = l; return record }, httpapi.Options{}, usecase.Options{})
	ctx := t.Context()
	worker, _ := h.agent("worker")
	zoe := h.atDesk("zoe", "billing")
	made, err := worker.CreateTask(ctx, client.CreateInput{Intent: "refund it", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	record.on.Store(true)
	asked := make(chan error, 1)
	go func() {
		_, err := worker.Ask(ctx, made.Task, client.AskInput{Epoch: 1, Question: "Refund it?", Desk: "billing"})
		asked <- err
	}()
	told := ""
	admin := h.as(h.admin)
	err = admin.Events(ctx, made.Position, func(client.Event) error { return errEnough }) // the question is in the record
	if !errors.Is(err, errEnough) {
		t.Fatal(err)
	}
	if _, err := admin.RegisterAgent(ctx, "last", client.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	err = zoe.Events(ctx, made.Position, func(e client.Event) error {
		if e.ID == "last" {
			return errEnough
		}
		told += strings.Join(e.Events, ",")
		return nil
	})
	close(record.held)
	if !errors.Is(err, errEnough) {
		t.Fatal(err)
	}
	if err := <-asked; err != nil {
		t.Fatal(err)
	}
	if told != "ticket-opened" {
		t.Errorf("zoe is told of %q", told)
	}
}
