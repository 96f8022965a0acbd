package scenario

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// counter counts how often open tasks are counted.
type counter struct {
	view.TaskQueries
	asked atomic.Int64
}

func (c *counter) OpenTaskCount(ctx context.Context, workspace, principal string) (int, error) {
	c.asked.Add(1)
	return c.TaskQueries.OpenTaskCount(ctx, workspace, principal)
}

// bounded gives the harness use cases that bound the open tasks of each principal.
func (h *harness) bounded(most int) *counter {
	h.Helper()
	views := h.views.Store()
	c := &counter{TaskQueries: views.TaskQueries}
	views.TaskQueries = c
	var err error
	if h.app, err = usecase.New(h.ledger, views, usecase.Options{Now: h.now, MaxOpen: most}); err != nil {
		h.Fatal(err)
	}
	return c
}

func TestAPrincipalHasOnlySoManyOpenTasks(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob")
		h.bounded(3)
		create := func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Create(ctx(h), c, &tasks.CreateInput{Intent: "one more", Start: true})
		}
		once := h.agent("ann").WithKey("the-first")
		first, err := create(once)
		for refusal.CodeOf(err) == refusal.Unknown {
			first, err = create(once)
		}
		if err != nil {
			h.Fatal(err)
		}
		h.create(h.agent("ann"), tasks.CreateInput{Intent: "second"})
		third := ok(h, h.agent("ann"), create)
		no(h, h.agent("ann"), refusal.Limit, create)
		ok(h, h.agent("bob"), create)
		ok(h, h.operator(), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Create(ctx(h), c, &tasks.CreateInput{Intent: "of an operator"})
		})
		if again, err := create(once); err != nil || again.Task != first.Task || !again.Repeat {
			h.Errorf("the repeat of what was made: %+v, %v", again, err)
		}
		time.Sleep(time.Minute)
		no(h, h.agent("ann"), refusal.Limit, create)
		h.complete("ann", third, "done")
		time.Sleep(time.Minute)
		ok(h, h.agent("ann"), create)
		no(h, h.agent("ann"), refusal.Limit, create)
	})
}
