package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/api/inprocess"
	"github.com/trapezehq/trapeze/internal/cli/stdio"
	"github.com/trapezehq/trapeze/internal/delivery/courier"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/files/artifact/filestore"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview"
)

type m = map[string]any

// testServer is a server that can be stopped and started again, with a fake clock.
type testServer struct {
	*testing.T
	dir   string
	api   atomic.Pointer[http.Handler] // nil while it is away
	owner string
	stop  func()
}

// withServer runs a test against a server. Nothing that the test started may outlive it: the bubble would not end.
func withServer(t *testing.T, tell func(h *testServer)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := &testServer{T: t, dir: dir}
		h.start()
		tell(h)
		h.stop()
	})
}

func (h *testServer) start() {
	h.Helper()
	log, views, err := sqlview.OpenEmbedded(context.Background(), filepath.Join(h.dir, "trapeze.db"), sqlitelog.Options{MinFree: -1})
	h.must(err)
	store, err := filestore.Open(filepath.Join(h.dir, "artifacts"), filestore.Options{MinFree: -1})
	h.must(err)
	a, err := usecase.New(log, views.Store(), usecase.Options{Artifacts: store})
	h.must(err)
	if h.owner == "" {
		h.owner, err = a.Tokens.Bootstrap(context.Background(), identity.DefaultWorkspace)
		h.must(err)
	}
	ctx, over := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		courier.New(a.FollowUp, log, views.Store(), courier.Options{}).Run(ctx)
	}()
	api := parting(ctx, httpapi.New(&a.Surface, httpapi.Options{Log: slog.New(slog.DiscardHandler), Version: "test"}))
	h.api.Store(&api)
	h.stop = func() {
		h.api.Store(nil)
		over()
		<-done
		synctest.Wait() // what was asked has been answered
		h.must(errors.Join(store.Close(), views.Close(), log.Close()))
	}
}

// parting cancels waiting calls when the server stops, as the exit of a process does.
func parting(over context.Context, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(over, cancel)()
		next.ServeHTTP(w, r.WithContext(ctx))
		if over.Err() != nil {
			panic(http.ErrAbortHandler)
		}
	})
}

func (h *testServer) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// RoundTrip calls the server, if it is running.
func (h *testServer) RoundTrip(r *http.Request) (*http.Response, error) {
	api := h.api.Load()
	if api == nil {
		return nil, errors.New("connection refused")
	}
	res, err := inprocess.Transport(*api).RoundTrip(r)
	if err == nil && h.api.Load() != api {
		_ = res.Body.Close()
		return nil, io.ErrUnexpectedEOF
	}
	return res, err
}

func (h *testServer) as(token string) *client.Client {
	h.Helper()
	c, err := client.New("http://localhost", token, client.Options{HTTP: &http.Client{Transport: h}})
	h.must(err)
	return c
}

// token registers an agent, and creates a token of it.
func (h *testServer) token(name string, spec client.AgentSpec) string {
	h.Helper()
	_, err := h.as(h.owner).RegisterAgent(context.Background(), name, spec)
	h.must(err)
	t, err := h.as(h.owner).CreateToken(context.Background(), client.TokenInput{Role: client.RoleAgent, Name: name})
	h.must(err)
	return t.Text
}

// stdioSession is an MCP client.
type stdioSession struct {
	*testServer
	in      *io.PipeWriter
	out     *bufio.Reader
	cancel  context.CancelFunc
	done    chan error
	calls   int
	said    *strings.Builder // on standard error; read it when it is over
	pending map[string]m
}

// open starts a session of a new agent.
func (h *testServer) open(name string, spec client.AgentSpec) *stdioSession {
	h.Helper()
	return h.begin(name, h.token(name, spec))
}

func (h *testServer) begin(name, token string) *stdioSession {
	in, input := io.Pipe()
	output, out := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	s := &stdioSession{
		testServer: h, in: input, out: bufio.NewReader(output), cancel: cancel, done: make(chan error, 1), said: &strings.Builder{}, pending: map[string]m{},
	}
	c, err := stdio.NewClient("http://localhost", token, client.Options{HTTP: &http.Client{Transport: h}})
	h.must(err)
	go func() {
		err := stdio.Run(ctx, c, stdio.Options{Agent: name, Token: token, Version: "test", In: in, Out: out, Stderr: s.said})
		_ = in.CloseWithError(io.ErrClosedPipe) // as the end of a process does
		_ = out.Close()
		_ = output.Close()
		s.done <- err
	}()
	return s
}

// line writes a line.
func (s *stdioSession) line(text string) {
	s.Helper()
	_, err := io.WriteString(s.in, text+"\n")
	s.must(err)
}

// next reads a message.
func (s *stdioSession) next() m {
	s.Helper()
	var out m
	if text := s.read(&out); out["jsonrpc"] != "2.0" {
		s.Fatalf("the output has a line that is no message: %s", text)
	}
	return out
}

// read reads a line.
func (s *stdioSession) read(into any) (text []byte) {
	s.Helper()
	text, err := s.out.ReadBytes('\n')
	s.must(err)
	if err := json.Unmarshal(text, into); err != nil {
		s.Fatalf("the output has a line that is not as expected: %s", text)
	}
	return text
}

// greet starts a session of the older protocol.
func (s *stdioSession) greet() *stdioSession {
	s.Helper()
	return s.greetIn("2025-11-25")
}

// greetIn starts a session with a version of the older protocol.
func (s *stdioSession) greetIn(version string) *stdioSession {
	s.Helper()
	s.line(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"me","version":"1"}}}`)
	if r, _ := s.next()["result"].(m); r["protocolVersion"] != version {
		s.Fatalf("not initialized: %v", r)
	}
	s.line(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return s
}

// ask calls a tool, and does not wait for the answer.
func (s *stdioSession) ask(tool string, args m) (id string) {
	s.Helper()
	s.calls++
	id = fmt.Sprint("c", s.calls)
	b, err := json.Marshal(m{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": m{"name": tool, "arguments": args}})
	s.must(err)
	s.line(string(b))
	return id
}

// answer waits for the answer to a call.
func (s *stdioSession) answer(id string) (text string, data m, refused bool) {
	s.Helper()
	for s.pending[id] == nil {
		got := s.next()
		s.pending[fmt.Sprint(got["id"])] = got
	}
	r, ok := s.pending[id]["result"].(m)
	if !ok {
		s.Fatalf("%s: %v", id, s.pending[id])
	}
	for _, c := range r["content"].([]any) {
		if t, is := c.(m)["text"].(string); is {
			text += t
		}
	}
	if data, _ = r["structuredContent"].(m); data == nil { // it is to be read
		data = m{"text": text}
	}
	refused, _ = r["isError"].(bool)
	return text, data, refused
}

// call calls a tool, which must succeed.
func (s *stdioSession) call(tool string, args m) m {
	s.Helper()
	text, data, refused := s.answer(s.ask(tool, args))
	if refused {
		s.Fatalf("%s was refused: %s", tool, text)
	}
	return data
}

// offered waits for an offer, and returns its ID.
func (s *stdioSession) offered() string {
	s.Helper()
	items, _ := s.call("inbox", m{"wait": 5})["items"].([]any)
	if len(items) == 0 {
		s.Fatal("nothing was offered")
	}
	return items[0].(m)["id"].(string)
}

// ended waits for the end of a session, and checks that it took less than a second.
func (s *stdioSession) ended() {
	s.Helper()
	began := time.Now()
	err := <-s.done
	if took := time.Since(began); err != nil || took >= time.Second {
		s.Errorf("the session ended after %v: %v", took, err)
	}
	s.cancel()
}

// stopped waits for the answer to a call that waited at the end of the session, and then for the end.
func (s *stdioSession) stopped(id string) {
	s.Helper()
	if text, _, refused := s.answer(id); !refused || !strings.Contains(text, "unavailable: the server is stopping") {
		s.Errorf("it was answered %q", text)
	}
	s.ended()
}

// leave closes the input.
func (s *stdioSession) leave() {
	s.Helper()
	s.must(s.in.Close())
	s.ended()
}

// killed ends a session as a signal does.
func (s *stdioSession) killed() {
	s.Helper()
	s.cancel()
	s.ended()
}

func (h *testServer) task(id string) client.Task {
	h.Helper()
	t, err := h.as(h.owner).Task(context.Background(), id)
	h.must(err)
	return t
}
