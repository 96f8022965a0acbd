package viewtest

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// goOn is what an inbox has after a cursor, as the ids of its items, and the next cursor.
func (s *stage) goOn(name string, after view.Cursor, limit int) ([]string, view.Cursor) {
	s.Helper()
	box, err := s.views.Inbox(s.ctx, s.ws, name, view.InboxFilter{After: after, Limit: limit})
	if err != nil {
		s.Fatal(err)
	}
	if goesBack(after, box.Next) {
		s.Fatalf("the cursor %s was followed by %s", after, box.Next)
	}
	ids := []string{}
	for _, i := range box.Items {
		ids = append(ids, i.ID)
	}
	return ids, box.Next
}

// goesBack reports whether a cursor is before another in a rank.
func goesBack(before, after view.Cursor) bool {
	for rank := range before {
		if after[rank] < before[rank] {
			return true
		}
	}
	return false
}

func cursorOfInboxStory(s *stage) {
	var at view.Cursor
	next := func(limit int, want ...string) {
		s.Helper()
		var got []string
		if got, at = s.goOn("bob", at, limit); !slices.Equal(got, append([]string{}, want...)) {
			s.Errorf("got %q, want %q", got, want)
		}
	}
	offer := func(n int) string { return event.HandoffID(id(n), 1) }
	send := func(n int, p event.Priority) {
		s.do(id(n), handoff.Create{By: operator, Task: id(n), Intent: "x", Priority: p})
		s.do(id(n), s.to(id(n), "bob"))
	}
	for n, priority := range []event.Priority{event.Low, event.Normal, event.Urgent, event.High, event.Urgent} {
		send(n, priority)
	}
	next(2, offer(2), offer(4)) // the most urgent of all
	if at.Least() >= s.inbox("bob")[4].At {
		s.Errorf("the cursor %s is behind what was left out", at)
	}
	next(1, offer(3)) // and then the most urgent of those that are left
	send(6, event.Low)
	send(7, event.High)
	send(8, event.Urgent)
	next(2, offer(8), offer(7)) // what is urgent and new comes before what was left out
	next(2, offer(1), offer(0))
	next(2, offer(6))
	next(2)
	if at != view.CursorAt(s.views.Position()) {
		s.Errorf("the cursor is %s, the views are at %d", at, s.views.Position())
	}
	s.do(id(4), handoff.See{Agent: "bob", Handoff: 1})
	next(2) // it is where it was
	s.do(id(5), handoff.Create{By: operator, Task: id(5), Intent: "x"}, s.to(id(5), "bob"))
	next(2, offer(5))
	s.do(id(5), handoff.See{Agent: "bob", Handoff: 1})
	for range 2 { // it is not answered, and made again after a while
		five := s.task(id(5))
		s.now = five.Due()
		s.do(id(5), handoff.Tick{})
	}
	next(2, offer(5))
	next(2)
}

func turnsStory(s *stage) {
	send := func(n int, by identity.Principal) {
		s.do(id(n), handoff.Create{By: by, Task: id(n), Intent: "x"}, s.to(id(n), "bob"))
	}
	for n := range 30 {
		send(n, agentOf("ann"))
	}
	send(30, agentOf("cy"))
	send(31, agentOf("cy"))
	for limit := 1; limit <= 32; limit++ {
		box, err := s.views.Inbox(s.ctx, s.ws, "bob", view.InboxFilter{Limit: limit})
		if err != nil || len(box.Items) != limit {
			s.Fatalf("%d items, %v, want %d", len(box.Items), err, limit)
		}
		want := []int{0, 30, 1, 31}
		for n := 2; n < 30; n++ {
			want = append(want, n)
		}
		for i, item := range box.Items {
			if item.Task != id(want[i]) {
				s.Fatalf("item %d of %d is of %s", i, limit, item.Task)
			}
		}
	}
	for sender, want := range map[string]int{"ann": 30, "cy": 2, "dee": 0} {
		if got, err := s.views.SentCount(s.ctx, s.ws, "bob", sender, 1000); err != nil || got != want {
			s.Errorf("%d offers of %s, %v", got, sender, err)
		}
	}
	if got, err := s.views.SentCount(s.ctx, s.ws, "bob", "ann", 7); err != nil || got != 7 {
		s.Errorf("%d of at most 7, %v", got, err)
	}
}

// gatherer goes through an inbox by its cursor.
type gatherer struct {
	at   view.Cursor
	told map[string]bool
}

// randomReaders go through inboxes by their cursors while random stories go on: whatever waits and is not after a reader's
// cursor, it has been told of; and nothing twice once it goes by a cursor.
func randomReaders(t *testing.T, open Open) {
	s := newStage(t, open)
	story := 0
	rapid.Check(t, func(rt *rapid.T) {
		story++
		s.ws = fmt.Sprintf("reader-%d", story)
		readers := map[string]*gatherer{"": {}, "ann": {}, "bob": {}, "cy": {}}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			task := id(rapid.IntRange(1, 6).Draw(rt, "task"))
			_ = s.try(task, s.anything(rt, task, s.task(task))) // most refusals are part of the game
			if rapid.IntRange(0, 2).Draw(rt, "look") == 0 {
				name := rapid.SampledFrom([]string{"", "ann", "bob", "cy"}).Draw(rt, "reader")
				readers[name].look(rt, s, name)
			}
		}
		for name, r := range readers {
			for r.look(rt, s, name) > 0 { // it comes to an end
			}
		}
	})
}

func (r *gatherer) look(rt *rapid.T, s *stage, name string) int {
	limit := rapid.IntRange(1, 4).Draw(rt, "limit")
	box, err := s.views.Inbox(s.ctx, s.ws, name, view.InboxFilter{After: r.at, Limit: limit})
	if err != nil || goesBack(r.at, box.Next) || box.Next.Newest() > s.views.Position() {
		rt.Fatalf("after %s: %s, %v", r.at, box.Next, err)
	}
	if r.told == nil {
		r.told = map[string]bool{}
	}
	line := func(i view.Item) string { return fmt.Sprintf("%s %s offer %d at %d", i.Type, i.ID, i.Offer, i.At) }
	rank := func(i view.Item) int { return i.Type.Rank(i.Epoch, i.Priority) }
	for _, i := range box.Items {
		if at := r.at[rank(i)]; i.At <= at || at > 0 && i.At > box.Next[rank(i)] {
			rt.Errorf("between %s and %s: %s", r.at, box.Next, line(i))
		}
	}
	if !slices.IsSortedFunc(box.Items, func(x, y view.Item) int { return cmp.Compare(rank(x), rank(y)) }) {
		rt.Errorf("out of order: %+v", box.Items)
	}
	entries := map[ledger.Position]bool{}
	for _, i := range box.Items {
		entries[i.At] = true
		r.told[line(i)] = true
	}
	if len(box.Items) > limit && len(entries) > 1 {
		rt.Errorf("%d items of %d entries where %d were wanted", len(box.Items), len(entries), limit)
	}
	r.at = box.Next
	for _, i := range s.inbox(name) {
		if i.At <= r.at[rank(i)] && !r.told[line(i)] {
			rt.Errorf("%q at %s with limit %d was not told of %s", name, r.at, limit, line(i))
		}
	}
	return len(box.Items)
}
