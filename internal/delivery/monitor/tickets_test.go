package monitor

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/figure"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// backlog is a workspace with open tickets, the oldest first, an hour and a half apart if they are few.
type backlog struct {
	view.TicketQueries
	view.Directory
	opened []time.Time
	pages  int
}

func (*backlog) Workspaces(context.Context) ([]string, error) { return []string{"default"}, nil }

func (b *backlog) Tickets(_ context.Context, _ string, f view.TicketFilter) (list []view.TicketRow, err error) {
	b.pages++
	from := 0
	if last := f.After.After.ID; last != "" {
		from, err = strconv.Atoi(last)
		from++
	}
	for i := from; i < len(b.opened) && len(list) < f.Limit; i++ {
		list = append(list, view.TicketRow{ID: fmt.Sprint(i), Ticket: task.Ticket{Kind: event.TicketQuestion, Opened: b.opened[i]}})
	}
	return list, err
}

func TestManyOpenTicketsAreCountedOnceAMinute(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	b := &backlog{}
	m := New(ledgertest.NewDouble(ledgertest.Faults{}), view.Store{TicketQueries: b, Directory: b}, Options{Now: func() time.Time { return now }})
	scrape := func(wantOpen float64, wantPages int) {
		t.Helper()
		b.pages = 0
		set, open := figure.NewSet(), 0.0
		if err := m.tickets(t.Context(), set); err != nil {
			t.Fatal(err)
		}
		for _, p := range set.Points() {
			open += p.Value
		}
		if open != wantOpen || b.pages != wantPages {
			t.Errorf("%v tickets of %d pages, want %v of %d", open, b.pages, wantOpen, wantPages)
		}
	}
	scrape(0, 1)
	b.opened = []time.Time{now.Add(-30 * time.Hour)}
	scrape(1, 1) // few are counted each time
	for range 3 * view.MaxPage {
		b.opened = append(b.opened, now.Add(-time.Minute))
	}
	scrape(1501, 4)
	b.opened = b.opened[:1200]
	now = now.Add(59 * time.Second)
	scrape(1501, 0)
	now = now.Add(time.Second)
	scrape(1200, 3)
	now = now.Add(-time.Hour) // a clock that goes back
	scrape(1200, 3)

	b.pages = 0
	x := &Measurement{m: m, now: now.Add(2 * time.Hour)}
	list, err := x.tickets(t.Context(), "default", &alert.Definition{Compare: alert.Above})
	if err != nil || len(list) != 1 || list[0].Value != 1 || b.pages != 1 {
		t.Errorf("%+v, %v, after %d pages", list, err, b.pages)
	}
}
