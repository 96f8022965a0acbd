//go:build slow

package httpapi_test

import (
	"slices"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// Who reads one item at a time from the beginning has every sender's in turn; who goes on from there after the cursor misses nothing, and has it in
// the order of priorities but for every fourth item, which is the oldest of a lower one: the priority is the word of the sender.
func TestAnInboxIsFollowedOnFromATurnOfALowerPriority(t *testing.T) {
	h := open(t, httpapi.Options{})
	flooder, _ := h.agent("flooder")
	planner, _ := h.agent("planner")
	writer, _ := h.agent("writer")
	waits := map[string]bool{}
	send := func(from *client.Client, p client.Priority) string {
		t.Helper()
		made, err := from.CreateTask(t.Context(), client.CreateInput{Intent: "x", Priority: p, Send: &client.SendInput{To: []string{"writer"}}})
		if err != nil {
			t.Fatal(err)
		}
		waits[made.Task] = true
		return made.Task
	}
	read := func(after string, limit int) client.Inbox {
		t.Helper()
		box, err := writer.Inbox(t.Context(), client.InboxOptions{After: after, Limit: limit})
		if err != nil {
			t.Fatal(err)
		}
		return box
	}
	for range 5 {
		send(flooder, client.Urgent)
	}
	send(flooder, client.Low)
	low := send(planner, client.Low)
	send(planner, client.Low)
	var box client.Inbox
	for n, want := range []client.Priority{client.Urgent, client.Urgent, client.Urgent, client.Low} {
		if box = read("", 1); len(box.Items) != 1 || box.Items[0].Priority != want {
			t.Fatalf("item %d: %+v", n, box)
		}
	}
	if box.Items[0].Task != low {
		t.Errorf("it was the turn of %+v", box.Items[0])
	}
	delete(waits, low)
	var got []client.Priority
	for calls := 0; ; calls++ {
		if box = read(box.Cursor, 2); len(box.Items) == 0 {
			break
		}
		if calls > 10 {
			t.Fatalf("no end after %s", box.Cursor)
		}
		for _, i := range box.Items {
			got = append(got, i.Priority)
			delete(waits, i.Task)
		}
	}
	want := []client.Priority{client.Urgent, client.Urgent, client.Urgent, client.Low, client.Urgent, client.Urgent, client.Low, client.Low}
	if len(waits) > 0 || !slices.Equal(got, want) {
		t.Errorf("left out: %v; order: %s", waits, got)
	}
}
