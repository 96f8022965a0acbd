//go:build slow

package multiplex_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/trapezehq/trapeze/client"
	protocol "github.com/trapezehq/trapeze/client/multiplex"
)

func TestManyAgentsHandOffOnOneConnection(t *testing.T) {
	t.Parallel()
	s := serve(t, asItIs)
	const agents = 8
	all := make([]*client.Client, agents)
	for i := range all {
		all[i] = s.agent(fmt.Sprintf("agent-%d", i))
	}
	var running sync.WaitGroup
	for i := range all {
		running.Go(func() {
			from, to := all[i], (i+1)%agents
			r, err := from.CreateTask(t.Context(), client.CreateInput{Intent: "look", Send: &client.SendInput{To: []string{fmt.Sprintf("agent-%d", to)}, Reason: "specialization"}})
			if err == nil {
				_, err = from.Accept(t.Context(), r.Handoff, client.AcceptInput{})
				if !errors.Is(err, client.Expired) {
					t.Errorf("the sender accepts what it sent: %v", err)
				}
				_, err = all[to].Accept(t.Context(), r.Handoff, client.AcceptInput{})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	if n := s.opened.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

func TestOnABrokenConnectionACallHappensOnce(t *testing.T) {
	t.Parallel()
	var s *server
	var once sync.Once
	s = serve(t, func(api http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			api.ServeHTTP(w, r)
			if r.URL.Path == "/v1/tasks" {
				once.Do(func() { _ = (<-s.hijacked).Close() }) // before the answer
			}
		})
	})
	c := s.client(s.token)
	_, err := c.CreateTask(t.Context(), client.CreateInput{Intent: "once"})
	must(t, err)
	list, err := c.Tasks(t.Context(), client.TaskFilter{})
	must(t, err)
	if len(list.Tasks) != 1 {
		t.Errorf("%d tasks, want 1", len(list.Tasks))
	}
}

func TestACallThatIsGivenUpIsCancelled(t *testing.T) {
	t.Parallel()
	h := newHeld()
	s := serve(t, h.around)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-h.begun; cancel() }()
	if _, err := s.client(s.token).Me(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	<-h.letGo // by the end of its context
	_, err := s.client(s.token).Me(t.Context())
	must(t, err)
	if n := s.opened.Load(); n != 1 {
		t.Errorf("%d connections, want 1: others go on", n)
	}
}

func TestAServerThatStopsAnswersTheCallsInProgress(t *testing.T) {
	t.Parallel()
	h := newHeld()
	s := serve(t, h.around)
	answered := make(chan error)
	go func() {
		_, err := s.client(s.token).Me(t.Context())
		answered <- err
	}()
	<-h.begun
	s.stop()
	close(h.letGo)
	must(t, <-answered)
	if _, err := s.client(s.token).Me(t.Context()); err != nil { // it is not asked for such a connection, but for the answer
		t.Error(err)
	}
}

func TestWithoutTheProtocolEachCallHasAConnectionOfItsOwn(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	if _, err := s.client(s.token).Me(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := s.client("wrong").Me(t.Context()); !errors.Is(err, client.Unauthenticated) {
		t.Errorf("got %v", err)
	}
}

func TestLargeCallsAndStreamsHaveConnectionsOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := serve(t, func(api http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ContentLength > protocol.MaxBody || strings.HasPrefix(r.URL.Path, "/v1/events") || strings.HasPrefix(r.URL.Path, "/v1/artifacts") {
				t.Errorf("%s %s on the shared connection", r.Method, r.URL.Path)
			}
			api.ServeHTTP(w, r)
		})
	})
	c := s.client(s.token)
	data, err := json.Marshal(strings.Repeat("x", protocol.MaxBody))
	must(t, err)
	made, err := c.CreateTask(t.Context(), client.CreateInput{Intent: "large", Content: client.Content{Data: data}})
	must(t, err)
	stored, err := c.PutArtifact(t.Context(), strings.NewReader("content"), "")
	must(t, err)
	var text strings.Builder
	if _, err := c.Artifact(t.Context(), stored.Digest, &text); err != nil || text.String() != "content" {
		t.Errorf("%q, %v", text.String(), err)
	}
	enough := errors.New("enough")
	err = c.Events(t.Context(), 0, func(e client.Event) error {
		if e.ID == made.Task {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) {
		t.Error(err)
	}
}

func TestWhatAConnectionRefuses(t *testing.T) {
	t.Parallel()
	s := serve(t, func(api http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/abort" {
				panic(http.ErrAbortHandler)
			}
			api.ServeHTTP(w, r)
		})
	})
	token := "Authorization: Bearer " + s.token + "\r\n"
	for _, c := range []struct{ name, request, want string }{
		{"a call without a token", "GET /v1/me HTTP/1.1\r\nHost: x\r\n\r\n", "401"},
		{"another path", "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", "400"},
		{"another such connection", "GET /v1/calls HTTP/1.1\r\nHost: x\r\n" + token + "\r\n", "400"},
		{"the head of an answer", "HEAD /v1/me HTTP/1.1\r\nHost: x\r\n" + token + "\r\n", "400"},
		{"a stream", "GET /v1/events HTTP/1.1\r\nHost: x\r\n" + token + "\r\n", "400"},
		{"an answer that is aborted", "GET /v1/abort HTTP/1.1\r\nHost: x\r\n\r\n", ""},
		{"what is no request", "HELLO", "closed"},
		{"a header with a control character", "GET /v1/me HTTP/1.1\r\nHost: x\r\nX-A: \x01\r\n\r\n", "closed"},
		{"a body of another length", "POST /v1/tasks HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n{}", "closed"},
		{"a body without a length", "POST /v1/tasks HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "closed"},
		{"a message that is too long", strings.Repeat("x", protocol.MaxRequest+1), "closed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := s.raw()
			send(t, f, 7, c.request)
			call, message, err := f.Receive(1 << 20)
			got := strings.TrimPrefix(string(message), "HTTP/1.1 ")
			if err != nil {
				call, got = 7, "closed"
			}
			if call != 7 || len(got) < len(c.want) || got[:len(c.want)] != c.want || c.want == "" && got != "" {
				t.Errorf("call %d is answered with %.200q, want %s", call, got, c.want)
			}
		})
	}
}

func TestCallsOnAConnectionAreBounded(t *testing.T) {
	t.Parallel()
	letGo := make(chan struct{})
	s := serve(t, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-letGo })
	})
	f := s.raw()
	const most, request = 1024, "GET /v1/me HTTP/1.1\r\nHost: x\r\n\r\n"
	for i := range uint32(most + 1) {
		send(t, f, i, request)
	}
	call, message, err := f.Receive(1 << 20)
	must(t, err)
	if call != most || !strings.HasPrefix(string(message), "HTTP/1.1 429") {
		t.Errorf("call %d is answered first, with %.100q", call, message)
	}
	close(letGo)
	for range most {
		_, _, err := f.Receive(1 << 20)
		must(t, err)
	}
}

func TestANumberThatIsInUseEndsTheConnection(t *testing.T) {
	t.Parallel()
	h := newHeld()
	s := serve(t, h.around)
	f := s.raw()
	const request = "GET /v1/me HTTP/1.1\r\nHost: x\r\n\r\n"
	send(t, f, 1, request)
	send(t, f, 1, request)
	<-h.letGo // its call is cancelled
	for {
		if _, _, err := f.Receive(1 << 20); err != nil {
			break
		}
	}
}
