package httpapi_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase"
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

// Each of those who look at once is shown another claim first, so that they do not all try the oldest.
func TestReadersThatLookAtOnceAreShownDifferentClaimsFirst(t *testing.T) {
	var later atomic.Int64 // by how much the clock that stands still was moved
	began := time.Now()
	h := openWith(t, httpapi.Options{}, usecase.Options{Now: func() time.Time { return began.Add(time.Duration(later.Load())) }})
	planner, _ := h.agent("planner")
	readers := map[string]*client.Client{}
	for _, name := range []string{"ann", "bob", "cyd"} {
		readers[name], _ = h.agent(name)
	}
	look := func(name string, o client.InboxOptions) (tasks string) {
		t.Helper()
		box, err := readers[name].Inbox(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range box.Items {
			tasks += i.Intent
		}
		return tasks
	}
	for _, intent := range []string{"1", "2", "3"} {
		if _, err := planner.CreateTask(t.Context(), client.CreateInput{Intent: intent, Send: &client.SendInput{Kind: client.Broadcast, To: []string{"ann", "bob", "cyd"}}}); err != nil {
			t.Fatal(err)
		}
	}
	testShares(t, h, look)
	first := ""
	for _, name := range []string{"ann", "bob", "cyd"} {
		first += look(name, client.InboxOptions{Limit: 1, See: true})
	}
	again, all := look("ann", client.InboxOptions{Limit: 1}), look("bob", client.InboxOptions{Peek: true})
	later.Store(int64(time.Second)) // what one was shown is everybody's again
	if then := look("bob", client.InboxOptions{Peek: true}); first != "123" || again != "1" || all != "213" || then != "123" {
		t.Errorf("first %s, then %s, in all %s, a second later %s", first, again, all, then)
	}
}

// testShares checks that of readers who wait each is shown a share of the claims 1, 2 and 3, and that a look at the list has all.
func testShares(t *testing.T, h *harness, look func(string, client.InboxOptions) string) {
	t.Helper()
	eve, _ := h.agent("eve")
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	go func() { _, _ = eve.Inbox(ctx, client.InboxOptions{Wait: client.MaxWait}) }()
	wait, got := client.InboxOptions{Wait: client.MaxWait, Peek: true}, ""
	for range 10_000 {
		if got = look("ann", wait); got != "123" { // eve waits
			break
		}
	}
	if all := look("ann", client.InboxOptions{}); got != "12" || all != "123" {
		t.Errorf("of 123, one of two that wait is shown %s; the list is %s", got, all)
	}
}
