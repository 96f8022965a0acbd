package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
	"github.com/trapezehq/trapeze/internal/usecase/tokens"
)

// operator is somebody with a token of its own, and the id of that.
func (b *bubble) operator() (c bubble, id string) {
	b.Helper()
	admin, err := b.app.Tokens.Authenticate(b.Context(), b.token)
	if err != nil {
		b.Fatal(err)
	}
	made, err := b.app.Tokens.Create(b.Context(), admin, tokens.TokenInput{Role: identity.Operator, Name: "olga"})
	if err != nil {
		b.Fatal(err)
	}
	c = *b
	c.token = made.Text
	return c, made.ID
}

// longTask creates a task that nobody ends, as the administrator.
func (b *bubble) longTask() (caller.Caller, taskstore.Receipt) {
	b.Helper()
	admin, err := b.app.Tokens.Authenticate(b.Context(), b.token)
	if err != nil {
		b.Fatal(err)
	}
	made, err := b.app.Tasks.Create(b.Context(), admin, &tasks.CreateInput{Intent: "long"})
	if err != nil {
		b.Fatal(err)
	}
	return admin, made
}

func TestAWaitEndsWithItsToken(t *testing.T) {
	for _, path := range []string{"/v1/inbox?wait=55s", "/v1/tasks/%s?wait=55s", "/v1/tasks/%s?wait=55s&after=%d"} {
		inBubble(t, func(b *bubble) {
			olga, id := b.operator()
			admin, made := b.longTask()
			path = strings.Replace(strings.Replace(path, "%s", made.Task, 1), "%d", fmt.Sprint(uint64(made.Position)), 1)
			time.AfterFunc(5*time.Second, func() {
				if _, err := b.app.Tokens.Revoke(b.Context(), admin, id); err != nil {
					b.Error(err)
				}
			})
			began := time.Now()
			status, answer, err := olga.request(http.MethodGet, path, nil)
			if took := time.Since(began); err != nil || status != http.StatusUnauthorized || took > 30*time.Second {
				b.Errorf("%s: %d %s after %s, %v", path, status, answer, took, err)
			}
		})
	}
}

func TestATaskIsWaitedForOverHTTP(t *testing.T) {
	inBubble(t, func(b *bubble) {
		olga, _ := b.operator()
		admin, made := b.longTask()
		look := func(query string) client.Task {
			b.Helper()
			var task client.Task
			status, answer, err := olga.request(http.MethodGet, "/v1/tasks/"+made.Task+query, nil)
			if err != nil || status != http.StatusOK || json.Unmarshal([]byte(answer), &task) != nil {
				b.Fatalf("%s: %d %s, %v", query, status, answer, err)
			}
			return task
		}
		if task := look("?wait=55s"); task.State != client.Pending { // longer than the server's ReadTimeout
			b.Errorf("%+v", task)
		}
		time.AfterFunc(time.Second, func() {
			if _, err := b.app.Tasks.Cancel(b.Context(), admin, tasks.CancelInput{ID: made.Task}); err != nil {
				b.Error(err)
			}
		})
		if task := look(fmt.Sprintf("?wait=55s&after=%d", made.Position)); task.State != client.Cancelled || task.Position <= uint64(made.Position) {
			b.Errorf("%+v", task)
		}
		if task := look("?wait=55s"); task.State != client.Cancelled {
			b.Errorf("%+v", task)
		}
	})
}

func TestAWaitThatMakesNoSenseIsRefused(t *testing.T) {
	h := open(t, httpapi.Options{})
	planner, token := h.agent("planner")
	made, err := planner.CreateTask(t.Context(), client.CreateInput{Intent: "x"})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"/v1/tasks/" + made.Task + "?wait=56s", "/v1/tasks/" + made.Task + "?wait=soon", "/v1/tasks/" + made.Task + "?after=-1&wait=1s",
		"/v1/tasks/" + made.Task + "?after=999999999&wait=1s", "/v1/inbox?after=999999999", "/v1/inbox?after=18446744073709551615", "/v1/inbox?after=x",
		"/v1/inbox?after=1-999999999", "/v1/inbox?after=1-", "/v1/inbox?after=1-1-1-1-1-1",
	} {
		if p := h.call(token, "GET "+path, "").problem(t); p.Code != refusal.Invalid || p.Hint == "" {
			t.Errorf("%s: %+v", path, p)
		}
	}
}

func TestAnInboxIsFollowedByTheClient(t *testing.T) {
	h := open(t, httpapi.Options{})
	planner, _ := h.agent("planner")
	writer, _ := h.agent("writer")
	send := func(p client.Priority) string {
		t.Helper()
		r, err := planner.CreateTask(t.Context(), client.CreateInput{Intent: "x", Priority: p, Send: &client.SendInput{To: []string{"writer"}}})
		if err != nil {
			t.Fatal(err)
		}
		return r.Task
	}
	old := send(client.Urgent)
	first, err := writer.Inbox(t.Context(), client.InboxOptions{})
	if err != nil || len(first.Items) != 1 || first.Items[0].Task != old {
		t.Fatalf("%+v, %v", first, err)
	}
	if again, err := writer.Inbox(t.Context(), client.InboxOptions{After: first.Cursor}); err != nil || len(again.Items) != 0 || again.Position < first.Position {
		t.Fatalf("%+v, %v", again, err)
	}
	fresh := send(client.Low)
	next, err := writer.Inbox(t.Context(), client.InboxOptions{After: first.Cursor, Wait: client.MaxWait})
	if err != nil || len(next.Items) != 1 || next.Items[0].Task != fresh || next.Position < next.Items[0].Position {
		t.Fatalf("%+v, %v", next, err)
	}
}

// What is new comes in the order of priorities also where it takes several calls.
func TestAnInboxKeepsTheOrderOfPrioritiesFromPageToPage(t *testing.T) {
	h := open(t, httpapi.Options{})
	planner, _ := h.agent("planner")
	writer, _ := h.agent("writer")
	send := func(list ...client.Priority) {
		t.Helper()
		for _, p := range list {
			if _, err := planner.CreateTask(t.Context(), client.CreateInput{Intent: "x", Priority: p, Send: &client.SendInput{To: []string{"writer"}}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	o := client.InboxOptions{Limit: 2}
	next := func(want ...client.Priority) {
		t.Helper()
		box, err := writer.Inbox(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		var got []client.Priority
		for _, i := range box.Items {
			got = append(got, i.Priority)
		}
		if !slices.Equal(got, want) {
			t.Errorf("after %q: %s, want %s", o.After, got, want)
		}
		o.After = box.Cursor
	}
	send(client.Normal)
	next(client.Normal)
	send(client.Low, client.Low, client.Normal, client.High, client.Low, client.Urgent)
	next(client.Urgent, client.High)
	send(client.Low, client.Urgent)
	next(client.Urgent, client.Normal) // what is urgent and new is before what was left out
	next(client.Low, client.Low)
	next(client.Low, client.Low)
	next()
}
