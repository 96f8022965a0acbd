package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// A reader that only looks at the list may take minutes to answer. One that waits for an offer, or says so, answers at once.
func TestALookAtAListDoesNotMarkAnOfferAsSeen(t *testing.T) {
	h := open(t, httpapi.Options{})
	planner, _ := h.agent("planner")
	writer, token := h.agent("writer")
	offered := func() (task string, ends time.Time) {
		t.Helper()
		sent, err := planner.CreateTask(t.Context(), client.CreateInput{Intent: "write the report", Send: &client.SendInput{To: []string{"writer"}}})
		if err != nil {
			t.Fatal(err)
		}
		return sent.Task, time.Now().Add(time.Minute) // long after the acknowledgment timeout, long before the offer ends
	}
	seen := func(task string, o client.InboxOptions) client.Item {
		t.Helper()
		box, err := writer.Inbox(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range box.Items {
			if i.Task == task {
				return i
			}
		}
		t.Fatalf("%s is not in %+v", task, box)
		return client.Item{}
	}
	for _, c := range []struct {
		name string
		o    client.InboxOptions
		seen bool
	}{
		{"a look", client.InboxOptions{}, false},
		{"a waiting look with peek", client.InboxOptions{Wait: time.Second, Peek: true}, false},
		{"a call that waits", client.InboxOptions{Wait: time.Second}, true},
		{"a reader that answers at once", client.InboxOptions{See: true}, true},
	} {
		task, soon := offered()
		seen(task, c.o)
		if i := seen(task, client.InboxOptions{Peek: true}); i.Seen != c.seen || i.Ends.Before(soon) != c.seen {
			t.Errorf("after %s: seen %t, ends %s", c.name, i.Seen, i.Ends)
		}
		if _, err := writer.Accept(t.Context(), seen(task, client.InboxOptions{Peek: true}).ID, client.AcceptInput{}); err != nil { // it answers one after the other
			t.Fatal(err)
		}
	}
	if r := h.call(token, "GET /v1/inbox?peek=true&see=true", ""); r.status != http.StatusUnprocessableEntity && r.status != http.StatusBadRequest ||
		r.problem(t).Code != refusal.Invalid || !strings.Contains(r.body, "omit one of them") {
		t.Errorf("both at once: %d %s", r.status, r.body)
	}
}
