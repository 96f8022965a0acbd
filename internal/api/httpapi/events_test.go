package httpapi_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

var errEnough = errors.New("enough")

// collect follows until n events have come.
func collect(t *testing.T, c *client.Client, after uint64, n int) []client.Event {
	t.Helper()
	var got []client.Event
	err := c.Events(t.Context(), after, func(e client.Event) error {
		if got = append(got, e); len(got) == n {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		t.Fatal(err)
	}
	return got
}

func create(t *testing.T, c *client.Client, intent string) client.Receipt {
	t.Helper()
	r, err := c.CreateTask(t.Context(), client.CreateInput{Intent: intent})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAnEventStreamGoesOnWhereItWas(t *testing.T) {
	h := open(t, httpapi.Options{})
	writer, _ := h.agent("writer")
	first := create(t, writer, "one")
	second := create(t, writer, "two")
	all := collect(t, h.as(h.admin), 0, 5)
	var names []string
	for i, e := range all {
		names = append(names, e.Kind)
		if i > 0 && e.Position <= all[i-1].Position {
			t.Errorf("out of order: %v", all)
		}
	}
	if got := strings.Join(names, " "); got != "token agent token task task" {
		t.Errorf("an admin is told of %s", got)
	}
	rest := collect(t, writer, first.Position, 1)
	if rest[0].Position != second.Position || rest[0].ID != second.Task || rest[0].Actor != "writer" || rest[0].Events[0] != "task-created" {
		t.Errorf("%+v", rest)
	}
}

func TestAgentsAreToldOnlyOfWhatIsTheirs(t *testing.T) {
	h := open(t, httpapi.Options{})
	writer, _ := h.agent("writer")
	planner, _ := h.agent("planner")
	secret := create(t, planner, "secret")
	var told []string
	remember := func(text string, scope client.Scope, task string) {
		item, err := planner.Remember(t.Context(), client.RememberInput{Title: text, Text: text, Scope: scope, Task: task})
		if err == nil && scope == client.ScopeWorkspace {
			_, err = planner.Revise(t.Context(), item.ID, client.ReviseInput{Text: "for all, too"})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	remember("for all", client.ScopeWorkspace, "")
	remember("mine alone", client.ScopePrivate, "")
	remember("of the secret", client.ScopeTask, secret.Task)
	for by, id := range map[*client.Client]string{planner: "plan~planner", writer: "draft~writer"} {
		if _, err := by.AppendTurn(t.Context(), id, client.TurnInput{Role: "user", Text: "hello"}); err != nil {
			t.Fatal(err)
		}
	}
	mine := create(t, writer, "mine")
	err := writer.Events(t.Context(), 0, func(e client.Event) error {
		if e.ID == secret.Task || e.Kind == "token" || e.ID == "plan~planner" {
			t.Errorf("writer is told of %+v", e)
		}
		if e.Kind == "memory" || e.Kind == "conversation" {
			told = append(told, e.Events...)
		}
		if e.ID == mine.Task {
			return errEnough
		}
		return nil
	})
	if want := []string{"memory-stored", "memory-revised", "conversation-turn"}; !errors.Is(err, errEnough) || !slices.Equal(told, want) {
		t.Errorf("%v: writer is told of %q of what agents remember and say, not %q", err, told, want)
	}
}

// A person is told of the tickets of the desk that the person serves, from their opening to their end, and of nothing else of their tasks.
func TestAPersonIsToldOfTheTicketsOfTheDesk(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx, admin := t.Context(), h.as(h.admin)
	done := func(_ client.Receipt, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	worker, _ := h.agent("worker")
	zoe, zack := h.atDesk("zoe", "billing"), h.atDesk("zack", "billing")
	h.atDesk("yves", "legal")
	ask := func(in client.AskInput) string {
		t.Helper()
		made, err := worker.CreateTask(ctx, client.CreateInput{Intent: "refund it", Start: true})
		done(made, err)
		done(worker.Progress(ctx, made.Task, client.ProgressInput{Epoch: 1, Note: "looking"}))
		in.Epoch, in.Question = 1, "Refund it?"
		done(worker.Ask(ctx, made.Task, in))
		return made.Task
	}
	answered := ask(client.AskInput{Desk: "billing"})
	ask(client.AskInput{Desk: "legal"})
	ask(client.AskInput{To: "zack"})
	ask(client.AskInput{})
	done(zack.Claim(ctx, answered+".k1"))
	done(zack.Release(ctx, answered+".k1", client.ReleaseInput{}))
	done(zack.Answer(ctx, answered+".k1", client.AnswerInput{Answer: "yes"}))
	progressed, err := worker.Progress(ctx, answered, client.ProgressInput{Epoch: 1, Note: "on it"})
	done(progressed, err)
	done(worker.Annotate(ctx, answered, client.AnnotateInput{Entry: progressed.Position, Note: "done soon"}))
	done(worker.Complete(ctx, answered, client.CompleteInput{Epoch: 1}))
	cancelled := ask(client.AskInput{Desk: "billing"})
	done(admin.Cancel(ctx, cancelled, client.CancelInput{}))
	if _, err := admin.RegisterAgent(ctx, "last", client.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	var told []string
	err = zoe.Events(ctx, 0, func(e client.Event) error {
		if e.ID == "last" {
			return errEnough
		}
		if e.Kind == "task" {
			told = append(told, e.ID+" "+strings.Join(e.Events, ","))
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		t.Fatal(err)
	}
	want := []string{
		answered + " ticket-opened", answered + " ticket-claimed", answered + " ticket-released", answered + " ticket-closed",
		cancelled + " ticket-opened", cancelled + " ticket-closed",
	}
	if !slices.Equal(told, want) {
		t.Errorf("zoe is told of\n%s\nand not of\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
}

// atDesk registers a person who serves a desk.
func (h *harness) atDesk(name, desk string) *client.Client {
	h.t.Helper()
	c, _ := h.agent(name)
	if _, err := h.as(h.admin).RegisterAgent(h.t.Context(), name, client.AgentSpec{Kind: "human", Capabilities: []string{desk}}); err != nil {
		h.t.Fatal(err)
	}
	return c
}

// lines reads a stream as it is on the wire.
func (h *harness) lines(ctx context.Context, token string, headers ...string) *bufio.Scanner {
	h.t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.URL+"/v1/events", nil)
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
	}
	res, err := h.Client().Do(req) // closed by the cleanup
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		h.t.Fatal(res.Status)
	}
	return bufio.NewScanner(res.Body)
}

func until(t *testing.T, s *bufio.Scanner, want string) {
	t.Helper()
	for s.Scan() {
		if strings.HasPrefix(s.Text(), want) {
			return
		}
	}
	t.Fatalf("the stream ended before %q: %v", want, s.Err())
}

func TestAStreamBeginsNowShowsThatItLivesAndOutlivesTheReadTimeout(t *testing.T) {
	h := open(t, httpapi.Options{Heartbeat: 20 * time.Millisecond}, func(s *http.Server) {
		s.ReadTimeout, s.IdleTimeout = 200*time.Millisecond, time.Minute // connections that wait for the next call stay open
	})
	writer, token := h.agent("writer")
	before := create(t, writer, "before")
	s := h.lines(t.Context(), token)
	until(t, s, fmt.Sprintf("id: %d", before.Position))
	for range 15 {
		until(t, s, ": alive")
	}
	after := create(t, writer, "after")
	until(t, s, fmt.Sprintf("id: %d", after.Position))
	until(t, s, "event: entry")
	until(t, s, `data: {"position":`)
}

func TestAStreamResumesByTheHeaderOfBrowsers(t *testing.T) {
	h := open(t, httpapi.Options{})
	writer, token := h.agent("writer")
	first := create(t, writer, "one")
	second := create(t, writer, "two")
	s := h.lines(t.Context(), token, fmt.Sprintf("Last-Event-ID: %d", first.Position))
	until(t, s, "event: open")
	until(t, s, fmt.Sprintf("id: %d", second.Position))
}

func TestAStreamEndsWithItsToken(t *testing.T) {
	h := open(t, httpapi.Options{Heartbeat: 5 * time.Millisecond})
	_, token := h.agent("writer")
	s := h.lines(t.Context(), token)
	until(t, s, ": alive")
	id, _, _ := strings.Cut(strings.TrimPrefix(token, "tz_"), "_")
	if _, err := h.as(h.admin).RevokeToken(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	for s.Scan() { // to its end
	}
}

func TestAStreamTellsNothingAfterItsTokenEnded(t *testing.T) {
	h := open(t, httpapi.Options{Heartbeat: time.Hour})
	_, token := h.agent("writer")
	other, err := h.as(h.admin).CreateToken(t.Context(), client.TokenInput{Role: client.RoleAgent, Name: "writer"})
	if err != nil {
		t.Fatal(err)
	}
	s := h.lines(t.Context(), token)
	until(t, s, "event: open")
	id, _, _ := strings.Cut(strings.TrimPrefix(token, "tz_"), "_")
	if _, err := h.as(h.admin).RevokeToken(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	create(t, h.as(other.Text), "secret")
	for s.Scan() { // to its end
		if s.Text() == "event: entry" {
			t.Fatal("told after the token was revoked")
		}
	}
}

// onWait calls a function when a call begins to wait.
type onWait struct {
	http.ResponseWriter
	do func()
}

func (o onWait) SetReadDeadline(time.Time) error {
	o.do()
	return nil
}

func TestALongPollAnswersNothingAfterItsTokenEnded(t *testing.T) {
	var h *harness
	var token string
	revoke := func() {
		id, _, _ := strings.Cut(strings.TrimPrefix(token, "tz_"), "_")
		if _, err := h.as(h.admin).RevokeToken(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	h = open(t, httpapi.Options{}, func(s *http.Server) {
		next := s.Handler
		s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/inbox" {
				w = onWait{w, revoke}
			}
			next.ServeHTTP(w, r)
		})
	})
	_, token = h.agent("writer")
	if r := h.call(token, "GET /v1/inbox?wait=10ms", ""); r.status != http.StatusUnauthorized {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// deadlines keeps when an answer must have been sent.
type deadlines struct {
	http.ResponseWriter
	set *[]time.Time
}

func (d deadlines) SetWriteDeadline(t time.Time) error {
	*d.set = append(*d.set, t)
	return nil
}

func TestAClientThatDoesNotReadCannotHoldAnAnswerForEver(t *testing.T) {
	var set []time.Time
	h := open(t, httpapi.Options{}, func(s *http.Server) {
		next := s.Handler
		s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(deadlines{w, &set}, r) })
	})
	begun := time.Now()
	h.call(h.admin, "GET /v1/tasks", "")
	if len(set) != 1 || set[0].Before(begun.Add(tasks.MaxWait)) || set[0].After(begun.Add(time.Hour)) {
		t.Errorf("to be sent by %v", set)
	}
}

func TestAStreamEndsWithItsClient(t *testing.T) {
	h := open(t, httpapi.Options{})
	_, token := h.agent("writer")
	ctx, cancel := context.WithCancel(t.Context())
	s := h.lines(ctx, token)
	until(t, s, "event: open")
	cancel()
	h.Close() // waits for every call under way
}
