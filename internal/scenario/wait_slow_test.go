//go:build slow || outside

package scenario

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func TestEachOfAThousandThatWaitIsToldOfItsOwnTask(t *testing.T) {
	bubble(t, "distributed", func(h *harness) {
		h.register("lead", agents.AgentSpec{MaxTasks: 2000})
		made := make([]taskstore.Receipt, 1000)
		waits := make([]<-chan looked, len(made))
		together(len(made), func(n int) {
			made[n] = h.create(h.agent("lead"), tasks.CreateInput{Intent: fmt.Sprint(n), Start: true})
			waits[n] = h.look(h.operator(), tasks.TaskInput{ID: made[n].Task, Wait: tasks.MaxWait})
		})
		together(len(made), func(n int) { h.complete("lead", made[n], fmt.Sprint(n)) })
		for n, w := range waits {
			if l := <-w; l.err != nil || l.task.ID != made[n].Task || l.task.State != event.Completed {
				h.Fatalf("%s: %s, %v", made[n].Task, l.task.State, l.err)
			}
		}
	})
}

func TestAWaitForATaskIsOverInTimeWhateverTheTaskDoes(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "eve")
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "long", Start: true})
		for _, after := range []ledger.Position{0, r.Position} {
			began := time.Now()
			l := <-h.look(h.agent("lead"), tasks.TaskInput{ID: r.Task, After: after, Wait: 30 * time.Second})
			took := time.Since(began) / time.Duration(l.calls)
			if l.err != nil || l.task.State != event.Executing || took < 30*time.Second || took > 35*time.Second {
				h.Errorf("after %d: %s after %d calls of %s, %v", after, l.task.State, l.calls, took, l.err)
			}
		}
		for what, in := range map[string]tasks.TaskInput{
			"too long": {ID: r.Task, Wait: 56 * time.Second}, "backwards": {ID: r.Task, Wait: -1},
			"of another record": {ID: r.Task, After: 1 << 60, Wait: time.Second}, "no id": {ID: "x", Wait: time.Second},
		} {
			if l := <-h.look(h.agent("lead"), in); refusal.CodeOf(l.err) != refusal.Invalid {
				h.Errorf("%s: %v", what, l.err)
			}
		}
		began := time.Now()
		for _, id := range []string{r.Task, "task_00000000000000000000000000"} {
			l := <-h.look(h.agent("eve"), tasks.TaskInput{ID: id, Wait: 30 * time.Second})
			if refusal.CodeOf(l.err) != refusal.NotFound || time.Since(began) > 10*time.Second {
				h.Errorf("eve waited %s for %s: %v", time.Since(began), id, l.err)
			}
		}
		gone, leave := context.WithCancel(context.Background())
		time.AfterFunc(time.Second, leave)
		before := h.reads("lead")
		if _, err := h.app.Tasks.Wait(gone, h.agent("lead"), tasks.TaskInput{ID: r.Task, Wait: 30 * time.Second}); err == nil {
			h.Error("who is gone was answered")
		}
		if n := h.reads("lead"); n != before {
			h.Errorf("%d reads by somebody who was gone", n-before)
		}
	})
}

func TestWhatIsLeftLyingDoesNotEndTheNextWait(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead")
		h.register("coder", agents.AgentSpec{MaxTasks: 1})
		send := func(p event.Priority) taskstore.Receipt {
			return h.create(h.agent("lead"), tasks.CreateInput{
				Intent: "x", Priority: p, Timeouts: event.Timeouts{Offer: event.Duration(time.Hour), Ack: event.Duration(2 * time.Minute)},
				Send: &handoffs.SendInput{To: []string{"coder"}},
			})
		}
		next := func(after view.Cursor, wait time.Duration) view.Inbox {
			h.Helper()
			return ok(h, h.agent("coder"), func(c caller.Caller) (view.Inbox, error) {
				return h.app.Tasks.Inbox(ctx(h), c, tasks.InboxInput{After: after, Wait: wait})
			})
		}
		old := send(event.Urgent)
		box := next(view.Cursor{}, tasks.MaxWait)
		if len(box.Items) != 1 || box.Items[0].Task != old.Task || !box.Items[0].Seen {
			h.Fatalf("%+v", box)
		}
		if quiet := next(box.Next, 10*time.Second); len(quiet.Items) != 0 || quiet.Next.Least() < box.Next.Least() {
			h.Fatalf("told again: %+v", quiet)
		}
		fresh := send(event.Low)
		got := next(box.Next, tasks.MaxWait)
		if len(got.Items) != 1 || got.Items[0].Task != fresh.Task {
			h.Fatalf("%+v", got)
		}
		// The first offer is not answered; when it is made again, it has come again.
		for deadline := time.Now().Add(time.Hour); ; {
			if got = next(got.Next, tasks.MaxWait); len(got.Items) > 0 {
				break
			}
			if time.Now().After(deadline) {
				h.Fatal("the offer was not made again")
			}
		}
		if i := got.Items[0]; i.Task != old.Task || i.Offer != 2 {
			h.Errorf("%+v", i)
		}
		if _, err := known(h, h.agent("coder"), h.app.Tasks.Inbox, tasks.InboxInput{After: view.CursorAt(1 << 60)}); refusal.CodeOf(err) != refusal.Invalid {
			h.Errorf("a cursor of another record: %v", err)
		}
	})
}
