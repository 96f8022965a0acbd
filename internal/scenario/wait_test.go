package scenario

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// looked is the result of a wait for a task.
type looked struct {
	task  taskstore.Task
	err   error
	calls int // it took, where nobody could tell whether the read is recorded
}

// look waits for a task as a caller, beside the test.
func (h *harness) look(c caller.Caller, in tasks.TaskInput) <-chan looked {
	done := make(chan looked, 1)
	go func() {
		l := looked{}
		l.task, l.err = call(c, func(c caller.Caller) (taskstore.Task, error) {
			l.calls++
			return h.app.Tasks.Wait(ctx(h), c, in)
		})
		done <- l
	}()
	return done
}

// reads counts the recorded reads of an agent.
func (h *harness) reads(agent string) (n int) {
	h.Helper()
	h.settle()
	return h.recorded()["content-read by agent/"+agent]
}

// recorded counts the events of the ledger by name and actor.
func (h *harness) recorded() map[string]int {
	h.Helper()
	found := map[string]int{}
	for _, e := range h.entries() {
		for _, ev := range e.Events {
			found[ev.Name+" by "+e.Actor.Principal]++
		}
	}
	return found
}

// entries are all entries of the ledger.
func (h *harness) entries() (all []ledger.Entry) {
	h.Helper()
	last, err := h.ledger.Last(ctx(h))
	if err != nil {
		h.Fatal(err)
	}
	for after := ledger.Position(0); after < last; {
		some, err := h.ledger.Read(ctx(h), after, 100)
		if err != nil {
			h.Fatal(err)
		}
		for _, e := range some {
			after = e.Position
		}
		all = append(all, some...)
		if len(some) == 0 {
			time.Sleep(10 * time.Millisecond) // of the fake clock: readers may lag
		}
	}
	return all
}

func TestWhoWaitsForATaskIsToldOfItsEnd(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "coder")
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "fix it", Send: &handoffs.SendInput{To: []string{"coder"}}})
		before := h.reads("lead")
		waits := h.look(h.agent("lead"), tasks.TaskInput{ID: r.Task, Wait: tasks.MaxWait})
		a := h.accept("coder", h.wait("coder"))
		for n := range 3 {
			time.Sleep(time.Second)
			h.progress("coder", a.Receipt, fmt.Sprintf("step %d", n))
		}
		select {
		case l := <-waits:
			h.Fatalf("the wait ended before the task: %s, %v", l.task.State, l.err)
		case <-time.After(time.Second):
		}
		ended := time.Now()
		h.complete("coder", a.Receipt, "done")
		l := <-waits
		if l.err != nil || l.task.State != event.Completed || l.task.Result.Text != "done" || time.Since(ended) > 5*time.Second {
			h.Errorf("%s after %s, %v", l.task.State, time.Since(ended), l.err)
		}
		if n := h.reads("lead") - before; n < 1 || n > l.calls {
			h.Errorf("%d calls are %d recorded reads", l.calls, n)
		}
		if l := <-h.look(h.agent("lead"), tasks.TaskInput{ID: r.Task, Wait: tasks.MaxWait}); l.err != nil || l.task.State != event.Completed {
			h.Errorf("what has ended is not waited for: %+v", l)
		}
	})
}

func TestATaskIsFollowedEntryByEntry(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "coder")
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "fix it", Send: &handoffs.SendInput{To: []string{"coder"}}})
		told := make(chan []string, 1)
		go func() {
			var states []string
			for after := r.Position; ; {
				l := <-h.look(h.agent("lead"), tasks.TaskInput{ID: r.Task, After: after, Wait: tasks.MaxWait})
				t := l.task
				if l.err != nil || t.Position <= after {
					h.Errorf("after %d came %d, %v", after, t.Position, l.err)
					break
				}
				states = append(states, fmt.Sprintf("%s %q", t.State, t.Progress))
				if after = t.Position; t.State.Final() {
					break
				}
			}
			told <- states
		}()
		a := h.accept("coder", h.wait("coder"))
		time.Sleep(time.Second)
		h.progress("coder", a.Receipt, "half of it")
		time.Sleep(time.Second)
		h.complete("coder", a.Receipt, "done")
		states := <-told
		for _, want := range []string{`executing ""`, `executing "half of it"`, `completed "half of it"`} {
			if !slices.Contains(states, want) {
				h.Errorf("not told of %s: %q", want, states)
			}
		}
	})
}

func TestATaskThatIsParkedEndsTheWait(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "deaf")
		none := 0
		r := h.create(h.agent("lead"), tasks.CreateInput{
			Intent: "anybody?", Timeouts: event.Timeouts{Offer: event.Duration(20 * time.Second)},
			Send: &handoffs.SendInput{To: []string{"deaf"}, Retries: &none},
		})
		l := <-h.look(h.agent("lead"), tasks.TaskInput{ID: r.Task, Wait: tasks.MaxWait})
		if l.err != nil || l.task.State != event.Parked {
			h.Errorf("%s, %v", l.task.State, l.err)
		}
	})
}

func TestAnInboxIsFollowedByItsCursorWithoutLoss(t *testing.T) {
	story(t, func(h *harness) {
		const senders, each = 4, 15
		h.join("lead", "coder")
		var sending sync.WaitGroup
		priorities := event.Priorities.Values()
		for n := range senders {
			sending.Go(func() {
				for i := range each {
					h.create(h.agent("lead"), tasks.CreateInput{
						Intent: "x", Priority: priorities[(n+i)%len(priorities)], Timeouts: event.Timeouts{Offer: event.Duration(time.Hour)},
						Send: &handoffs.SendInput{To: []string{"coder"}},
					})
					time.Sleep(time.Duration(n*i) * time.Millisecond)
				}
			})
		}
		told := map[string]int{}
		first := true
		for after := (view.Cursor{}); len(told) < senders*each; first = false {
			box := ok(h, h.agent("coder"), func(c caller.Caller) (view.Inbox, error) {
				return h.app.Tasks.Inbox(ctx(h), c, tasks.InboxInput{After: after, Limit: 3, Wait: tasks.MaxWait, Peek: true})
			})
			if len(box.Items) == 0 {
				h.Fatalf("nothing came after %s; told of %d", after, len(told))
			}
			for _, i := range box.Items {
				if told[i.ID]++; told[i.ID] > 1 && !first && i.At <= after[i.Type.Rank(i.Epoch, i.Priority)] {
					h.Errorf("told again of %s", i.ID)
				}
			}
			after = box.Next
		}
		sending.Wait()
		for id, n := range told {
			if n > 2 { // once by priority, before there was a cursor, and once by it
				h.Errorf("told %d times of %s", n, id)
			}
		}
	})
}
