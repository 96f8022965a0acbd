package scenario

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/quota"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// A decision has the time at which it was made, not that at which its call began to wait for its turn.
func TestWorkThatWaitsForItsTurnIsRecordedWhenItIsDone(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		work := quota.NewWork(1)
		h, stop := reopen(t, dir, func(o *usecase.Options) { o.Work = work })
		defer stop()
		h.join("ann")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "count", Start: true, Expected: event.Expected{Schema: json.RawMessage(`{"type":"object"}`)}})
		leave, err := work.EnterChange(t.Context(), h.agent("ann"))
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, err := call(h.agent("ann"), func(c caller.Caller) (taskstore.Receipt, error) {
				return h.app.Tasks.Complete(ctx(h), c, tasks.CompleteInput{Task: r.Task, Epoch: r.Epoch, Result: event.Result{Data: json.RawMessage(`{}`)}})
			})
			if err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		time.Sleep(time.Minute)
		turn := time.Now()
		leave()
		<-done
		if got := h.task(r.Task); got.State != event.Completed || got.Ended.Before(turn) {
			t.Errorf("%s at %s, its turn was at %s", got.State, got.Ended, turn)
		}
	})
}

// Large content of one agent is sealed in turn, and small content, and that of others, beside it.
func TestLargeContentOfOneAgentIsSealedInTurn(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		work := quota.NewWork(1)
		h, stop := reopen(t, dir, func(o *usecase.Options) { o.Work = work })
		defer stop()
		h.join("ann", "bob")
		leave, err := work.EnterChange(t.Context(), h.agent("ann"))
		if err != nil {
			t.Fatal(err)
		}
		large := envelopes.Content{Notes: strings.Repeat("All the words that there are. ", 3000)}
		small := h.create(h.agent("ann"), tasks.CreateInput{Intent: "short", Start: true})
		h.create(h.agent("bob"), tasks.CreateInput{Intent: "long", Content: large})
		done, waits := make(chan taskstore.Receipt, 3), 0
		begin := func(do func(c caller.Caller) (taskstore.Receipt, error)) {
			waits++
			go func() {
				r, err := call(h.agent("ann"), do)
				if err != nil {
					t.Error(err)
				}
				done <- r
			}()
		}
		begin(func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Create(ctx(h), c, &tasks.CreateInput{Intent: "long", Content: large})
		})
		begin(func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Create(ctx(h), c, &tasks.CreateInput{Intent: "long", Send: &handoffs.SendInput{To: []string{"bob"}, Content: large}})
		})
		begin(func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Send(ctx(h), c, handoffs.SendInput{Task: small.Task, Epoch: small.Epoch, To: []string{"bob"}, Content: large})
		})
		time.Sleep(time.Minute)
		if len(done) > 0 {
			t.Errorf("%d calls did not wait", len(done))
		}
		turn := time.Now()
		leave()
		for range waits {
			r := <-done
			if got := h.task(r.Task); got.ID != small.Task && got.Created.Before(turn) {
				t.Errorf("made at %s, its turn was at %s", got.Created, turn)
			}
		}
	})
}
