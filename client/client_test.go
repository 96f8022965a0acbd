package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/trapezehq/trapeze/client"
)

// script answers requests one after the other; the last answer is repeated. It notes what was asked.
type script struct {
	mu      sync.Mutex
	answers []func(http.ResponseWriter, *http.Request)
	asked   []*http.Request
	bodies  []string
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.asked, s.bodies = append(s.asked, r), append(s.bodies, string(b))
	answer := s.answers[min(len(s.asked), len(s.answers))-1]
	s.mu.Unlock()
	answer(w, r)
}

func (s *script) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

func says(status int, body string, headers ...string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func hangsUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func problem(code client.Code) string {
	return fmt.Sprintf(`{"code":%q,"detail":"no","hint":"do that","details":{"n":1}}`, code)
}

const receipt = `{"task":"task_1","state":"pending","epoch":0,"position":7,"events":["task-created"],"new_field":1}`

func play(t *testing.T, o client.Options, answers ...func(http.ResponseWriter, *http.Request)) (*client.Client, *script) {
	t.Helper()
	s := &script{answers: answers}
	server := httptest.NewServer(s)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	if o.Pause == 0 {
		o.Pause = time.Millisecond
	}
	c, err := client.New(server.URL+"/", "tz_secret", o)
	if err != nil {
		t.Fatal(err)
	}
	return c, s
}

func TestACallThatFailedIsRepeatedUnderItsKey(t *testing.T) {
	for name, failure := range map[string]func(http.ResponseWriter, *http.Request){
		"the line broke":       hangsUp,
		"the server is away":   says(503, problem(client.Unavailable)),
		"nobody knows":         says(504, problem(client.Unknown)),
		"something in between": says(502, "<html>bad gateway</html>"),
	} {
		t.Run(name, func(t *testing.T) {
			c, s := play(t, client.Options{Retries: 2}, failure, says(503, problem(client.Unavailable)), says(201, receipt))
			r, err := c.CreateTask(t.Context(), client.CreateInput{Intent: "x"})
			if err != nil || r.Position != 7 || s.count() != 3 {
				t.Fatalf("%+v, %v after %d attempts", r, err, s.count())
			}
			key := s.asked[0].Header.Get("Idempotency-Key")
			for i, r := range s.asked {
				if r.Header.Get("Idempotency-Key") != key || len(key) != 36 || key[14] != '7' || s.bodies[i] != `{"intent":"x"}` {
					t.Errorf("attempt %d: key %q, body %s", i, r.Header.Get("Idempotency-Key"), s.bodies[i])
				}
				if r.Header.Get("Authorization") != "Bearer tz_secret" || r.URL.Path != "/v1/tasks" {
					t.Errorf("%s %v", r.URL, r.Header)
				}
			}
		})
	}
}

func TestARefusalIsNotRepeated(t *testing.T) {
	for _, code := range []client.Code{
		client.Unauthenticated, client.NotPermitted, client.NotFound, client.Invalid, client.TooLarge, client.Conflict, client.StaleEpoch,
		client.NotOwner, client.Limit, client.Budget, client.CircuitOpen, client.Expired,
	} {
		c, s := play(t, client.Options{}, says(409, problem(code)))
		_, err := c.CreateTask(t.Context(), client.CreateInput{Intent: "x"})
		var refused *client.Error
		if !errors.Is(err, code) || !errors.As(err, &refused) || s.count() != 1 {
			t.Fatalf("%s: %v after %d attempts", code, err, s.count())
		}
		if refused.Message != "no" || refused.Hint != "do that" || refused.Details["n"] != 1.0 || refused.Status != 409 {
			t.Errorf("%+v", refused)
		}
		if errors.Is(err, client.Unknown) {
			t.Error("it counts as unknown too")
		}
	}
	c, s := play(t, client.Options{}, says(500, problem(client.Unavailable)))
	if _, err := c.CreateTask(t.Context(), client.CreateInput{Intent: "x"}); !errors.Is(err, client.Unavailable) || s.count() != 1 {
		t.Errorf("a fault of the server: %v after %d attempts", err, s.count())
	}
}

func TestRepeatingHasAnEnd(t *testing.T) {
	c, s := play(t, client.Options{Retries: 2}, says(503, problem(client.Unavailable)))
	if _, err := c.Tasks(t.Context(), client.TaskFilter{}); !errors.Is(err, client.Unavailable) || s.count() != 3 {
		t.Errorf("%v after %d attempts", err, s.count())
	}
	c, s = play(t, client.Options{Retries: -1}, hangsUp)
	if _, err := c.RegisterAgent(t.Context(), "x", client.AgentSpec{}); err == nil || s.count() != 1 {
		t.Errorf("%v after %d attempts", err, s.count())
	}
}

func TestAPauseEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := roundTrip(func(*http.Request) (*http.Response, error) {
			return answerOf(503, problem(client.Unavailable), "Retry-After", "3600"), nil
		})
		c, err := client.New("http://localhost", "tz_x", client.Options{Pause: time.Hour, HTTP: &http.Client{Transport: away}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Tasks(ctx, client.TaskFilter{}); !errors.Is(err, client.Unavailable) {
			t.Error(err)
		}
	})
}

func TestWaitingForTheInboxRidesOutTrouble(t *testing.T) {
	item := `{"items":[{"type":"offer","id":"task_1.h1"}],"position":3}`
	c, s := play(t, client.Options{Retries: -1}, says(200, `{"items":[],"position":1}`), hangsUp, says(503, problem(client.Unavailable)), says(200, item))
	items, err := c.WaitInbox(t.Context(), client.InboxOptions{Limit: 3, Peek: true})
	if err != nil || len(items) != 1 || items[0].ID != "task_1.h1" {
		t.Fatalf("%+v, %v", items, err)
	}
	if q := s.asked[0].URL.RawQuery; q != "limit=3&peek=true&wait=30s" {
		t.Error(q)
	}
	c, _ = play(t, client.Options{}, says(401, problem(client.Unauthenticated)))
	if _, err := c.WaitInbox(t.Context(), client.InboxOptions{}); !errors.Is(err, client.Unauthenticated) {
		t.Error(err)
	}
}

func TestEventsGoOnAfterTheLineBreaks(t *testing.T) {
	const head = "retry: 1000\nid: 4\nevent: open\ndata: {\"position\":4}\n\n"
	entry := func(n int) string {
		return fmt.Sprintf(": alive\n\nid: %d\nevent: entry\ndata: {\"position\":%d,\"kind\":\"task\"}\n\n", n, n)
	}
	const future = "id: 6\nevent: something-new\ndata: 1\ndata: 2\n\n"
	enough := errors.New("enough")
	var told []string
	watch := func(away error) { told = append(told, fmt.Sprint(away)) }
	c, s := play(t, client.Options{Watch: watch}, says(200, head+entry(5)+future), hangsUp, says(503, problem(client.Unavailable)),
		says(200, head), says(200, entry(7)+"id: 8\nevent: entry\ndata: {half"), says(200, entry(9)))
	var got []uint64
	err := c.Events(t.Context(), client.Now, func(e client.Event) error {
		if got = append(got, e.Position); e.Position == 9 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || !slices.Equal(got, []uint64{5, 7, 9}) {
		t.Fatalf("%v, %v", got, err)
	}
	var asked []string
	for _, r := range s.asked {
		asked = append(asked, r.URL.Query().Get("after"))
	}
	if want := []string{"", "6", "6", "6", "4", "7"}; !slices.Equal(asked, want) {
		t.Errorf("asked after %q, want %q", asked, want)
	}
	if len(told) != 2 || told[0] == "<nil>" || told[1] != "<nil>" { // a stream that only breaks is no server that is away
		t.Errorf("told %q", told)
	}
	c, _ = play(t, client.Options{}, says(403, problem(client.NotPermitted)))
	if err := c.Events(t.Context(), 0, nil); !errors.Is(err, client.NotPermitted) {
		t.Error(err)
	}
}

func TestAClientWithoutServerOrTokenIsNotMade(t *testing.T) {
	for _, c := range [][2]string{
		{"", "t"},
		{"127.0.0.1:8727", "t"},
		{"ftp://x", "t"},
		{"http://", "t"},
		{"http://u:p@x", "t"},
		{"http://x?y=1", "t"},
		{"http://x#y", "t"},
		{"http://x", ""},
		{"http://x", "a b"},
		{"http://x", "a\nb"},
		{"http://x", "ä"},
	} {
		if _, err := client.New(c[0], c[1], client.Options{}); err == nil {
			t.Errorf("%q made a client", c)
		}
	}
}

func TestAnIDThatIsMissingIsNotSent(t *testing.T) {
	c, s := play(t, client.Options{}, says(200, "{}"))
	for name, call := range map[string]func() error{
		"task":    func() error { _, err := c.Task(t.Context(), ""); return err },
		"send":    func() error { _, err := c.Send(t.Context(), "", client.SendInput{}); return err },
		"dots":    func() error { _, err := c.Agent(t.Context(), ".."); return err },
		"remove":  func() error { _, err := c.RemoveAgent(t.Context(), ""); return err },
		"content": func() error { _, err := c.Content(t.Context(), "", client.ContentInput{}); return err },
	} {
		if err := call(); !errors.Is(err, client.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s.count() != 0 {
		t.Errorf("%d requests were made", s.count())
	}
	if _, err := c.Task(t.Context(), "a/b?c"); err != nil || s.asked[0].URL.EscapedPath() != "/v1/tasks/a%2Fb%3Fc" {
		t.Errorf("%v: %s", err, s.asked[0].URL.EscapedPath())
	}
}

func TestAnAnswerThatIsNoneIsAnError(t *testing.T) {
	c, _ := play(t, client.Options{Retries: -1}, says(200, "<html>"), says(200, ""), says(404, "nginx"))
	for range 2 {
		if _, err := c.Me(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot be read") {
			t.Error(err)
		}
	}
	if _, err := c.Me(t.Context()); !errors.Is(err, client.Invalid) || !strings.Contains(err.Error(), "check the server's URL") {
		t.Error(err)
	}
	c, _ = play(t, client.Options{}, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	var b strings.Builder
	if err := c.Export(t.Context(), client.ExportOptions{}, &b); err == nil || b.String() != "half" {
		t.Errorf("an export that was cut short: %q, %v", b.String(), err)
	}
}

// Also those that are made within a millisecond, by several goroutines: each is a UUID of version 7 that parses.
func TestKeysAreNewAndInOrder(t *testing.T) {
	var all [4][]string
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			for range 1000 {
				all[i] = append(all[i], client.NewKey())
			}
		})
	}
	wg.Wait()
	for _, keys := range all {
		if !slices.IsSorted(keys) {
			t.Error("keys that one goroutine made are not in order")
		}
	}
	keys := slices.Sorted(slices.Values(slices.Concat(all[:]...)))
	if n := len(slices.Compact(keys)); n != 4000 {
		t.Errorf("%d of 4000 are different", n)
	}
	key, err := uuid.Parse(client.NewKey())
	if err != nil || key.Version() != 7 || key.Variant() != uuid.RFC4122 {
		t.Errorf("%s: version %d, variant %s, %v", key, key.Version(), key.Variant(), err)
	}
	if sec, nsec := key.Time().UnixTime(); time.Since(time.Unix(sec, nsec)).Abs() > time.Minute {
		t.Errorf("%s is of %s", key, time.Unix(sec, nsec))
	}
}

// methods that make no call, or are loops around others.
var local = []string{"Close", "URL", "URLs", "WaitInbox", "Ready"}

func TestEveryCallHasItsRoute(t *testing.T) {
	server := open()
	defer server.close()
	writer := server.agent("writer")
	typ := reflect.TypeOf(writer)
	for i := range typ.NumMethod() {
		m := typ.Method(i)
		if slices.Contains(local, m.Name) {
			continue
		}
		in := []reflect.Value{reflect.ValueOf(writer), reflect.ValueOf(t.Context())}
		for a := 2; a < m.Type.NumIn(); a++ {
			switch v := m.Type.In(a); v.Kind() {
			case reflect.String:
				in = append(in, reflect.ValueOf("x").Convert(v))
			case reflect.Interface:
				in = append(in, reflect.ValueOf(new(bytes.Buffer))) // a reader, or a writer
			case reflect.Func:
				in = append(in, reflect.ValueOf(func(client.Event) error { return errors.New("enough") }))
			default:
				in = append(in, reflect.Zero(v))
			}
		}
		out := m.Func.Call(in)
		err, _ := out[len(out)-1].Interface().(error)
		if err != nil && (strings.Contains(err.Error(), "there is nothing at") || strings.Contains(err.Error(), "is not allowed here") ||
			strings.Contains(err.Error(), "is not a field") || strings.Contains(err.Error(), "is not a parameter") || strings.Contains(err.Error(), "cannot be read")) {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
}

// said answers in turn without a network, which would run out of ports after some ten thousand connections.
type said []func(http.ResponseWriter, *http.Request)

func (s *said) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	(*s)[0](w, r)
	if len(*s) > 1 {
		*s = (*s)[1:]
	}
	return w.Result(), nil
}

func FuzzEventsAreReadOrRefused(f *testing.F) {
	for _, seed := range []string{"id: 1\nevent: entry\ndata: {\"position\":1}\n\n", "event: entry\n\n", "data:\n\n", ":\n\n", "id: -1\n\n", "entry", "\r\n\r\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := client.New("http://127.0.0.1:1", "tz_secret", client.Options{
			Pause: time.Nanosecond, HTTP: &http.Client{Transport: &said{says(200, text), says(403, problem(client.NotPermitted))}},
		})
		if err != nil {
			t.Fatal(err)
		}
		err = c.Events(t.Context(), client.Now, func(client.Event) error { return nil })
		if !errors.Is(err, client.NotPermitted) {
			t.Error(err)
		}
	})
}

func TestAwayIsAServerThatMayAnswerLater(t *testing.T) {
	for _, err := range []error{errors.New("connection refused"), &client.Error{Code: client.Unavailable}, fmt.Errorf("wrapped: %w", &client.Error{Code: client.Unknown})} {
		if !client.Away(err) {
			t.Errorf("%v: not away", err)
		}
	}
	for _, err := range []error{nil, &client.Error{Code: client.Conflict}, fmt.Errorf("wrapped: %w", &client.Error{Code: client.NotOwner})} {
		if client.Away(err) {
			t.Errorf("%v: away", err)
		}
	}
}
