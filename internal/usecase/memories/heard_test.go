package memories_test

import (
	"context"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/conversations"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
)

// looked counts looks at the end of a record.
type looked struct {
	ledger.Ledger
	looks int
}

func (l *looked) Last(ctx context.Context) (ledger.Position, error) {
	l.looks++
	return l.Ledger.Last(ctx)
}

// behind says how far views have come, and waits for nothing.
type behind struct {
	view.Freshness
	at ledger.Position
}

func (b *behind) Position() ledger.Position { return b.at }

func (b *behind) Wait(context.Context, ledger.Position) error { return nil }

func TestSealingLooksForNewItemsOnlyWhereNotAllWereHeardOf(t *testing.T) {
	h := open(t)
	l, views, come := &looked{Ledger: h.ledger}, h.views.Store(), &behind{at: 3}
	views.Freshness = come
	talks, err := conversations.NewStore(l, views, h, h.clock)
	if err != nil {
		t.Fatal(err)
	}
	store, err := memories.NewStore(l, views, h, h, talks, h.clock)
	if err != nil {
		t.Fatal(err)
	}
	learned := agent("ann")
	learned.Learned = true
	gather := func(what string, looks int) {
		t.Helper()
		l.looks = 0
		if _, err := store.Gather(t.Context(), learned, memories.Gather{Task: task.Task{ID: "t1"}}); err != nil || l.looks != looks {
			t.Errorf("%s: %d looks, want %d, %v", what, l.looks, looks, err)
		}
	}
	hear := func(stream ledger.Stream, at ledger.Position) {
		store.Hear([]ledger.Entry{{Stream: stream, Position: at}})
	}
	gather("it has heard of nothing", 1)
	hear("default/task/t1", 4)
	gather("what came before the first entry may be of items", 1)
	come.at = 4
	gather("the views have all of that", 0)
	hear("default/task/t1", 5)
	gather("they lack an entry of a task", 0)
	hear("default/memory/m1", 6)
	gather("they lack one of an item", 1)
	hear("default/memory/m2", 5)
	gather("and still do", 1)
	come.at = 6
	gather("they have it", 0)
	learned.Learned = false
	gather("the caches may not have learned of all that was before the call", 1)
}
