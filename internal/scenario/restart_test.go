package scenario

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// reopen opens the record of a directory and everything on it: a new one, or again after it was stopped.
func reopen(t testing.TB, dir string, options ...func(*usecase.Options)) (*harness, func()) {
	t.Helper()
	var err error
	h := &harness{TB: t}
	if h.ledger, h.views, err = openRecord(context.Background(), dir); err != nil {
		t.Fatal(err)
	}
	o := usecase.Options{Now: h.now}
	for _, set := range options {
		set(&o)
	}
	if h.app, err = usecase.New(h.ledger, h.views.Store(), o); err != nil {
		t.Fatal(err)
	}
	h.courier()
	return h, h.stop
}

func TestClocksGoOnAfterARestart(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h, stop := reopen(t, dir)
		h.join("lead", "coder", "backup")
		h.register("coder", agents.AgentSpec{Fallbacks: []string{"backup"}})
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "long", Send: &handoffs.SendInput{To: []string{"coder"}}})
		stop()
		time.Sleep(time.Hour)
		h, stop = reopen(t, dir)
		defer stop()
		if item := h.wait("backup"); item.Task != r.Task {
			t.Errorf("backup got %+v", item)
		}
	})
}

func TestARepeatedCallHasTheFirstOutcomeEvenAfterARestart(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h, stop := reopen(t, dir)
		h.join("ann", "bob")
		once := h.agent("ann").WithKey("k1")
		in := tasks.CreateInput{Intent: "once", Send: &handoffs.SendInput{To: []string{"bob"}}}
		first, err := h.app.Tasks.Create(ctx(h), once, &in)
		if err != nil {
			t.Fatal(err)
		}
		accept := tasks.AcceptInput{Handoff: first.Handoff}
		taken, err := h.app.Tasks.Accept(ctx(h), h.agent("bob").WithKey("k1"), accept)
		if err != nil {
			t.Fatal(err)
		}
		stop()
		h, stop = reopen(t, dir)
		defer stop()
		again, err := h.app.Tasks.Create(ctx(h), once, &in)
		if err != nil || !again.Repeat || again.Position != first.Position || again.State != event.HandingOff {
			t.Errorf("the repeated creation: %+v, %v", again, err)
		}
		retaken, err := h.app.Tasks.Accept(ctx(h), h.agent("bob").WithKey("k1"), accept)
		if err != nil || !retaken.Repeat || retaken.Epoch != taken.Epoch || retaken.Content == nil {
			t.Errorf("the repeated acceptance: %+v, %v", retaken, err)
		}
		in.Intent = "twice"
		if _, err := h.app.Tasks.Create(ctx(h), once, &in); refusal.CodeOf(err) != refusal.Conflict {
			t.Errorf("another body under the same key: %v", err)
		}
	})
}
