package transport_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/inprocess"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/liveness"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/taskext"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/transport"
	"github.com/trapezehq/trapeze/internal/api/park"
)

// sessionVersion is the last protocol version with sessions.
const sessionVersion = "2025-11-25"

// harness is a handler with an API that only knows the principals of tokens.
type harness struct {
	t       *testing.T
	handler http.Handler
	restart func() // a process that knows no session takes the place of the handler

	mu      sync.Mutex
	begins  time.Duration // how long a session exists before it has its first message
	speaks  map[string]client.Me
	clients []*client.Client // as the handler passed them, one for each server
	beats   []string         // ids of the tokens with which heartbeats were sent
	asked   []string         // what the API was asked for messages that would wait
	changed chan struct{}    // what they wait for; nil: nothing
	left    int              // how many of them wait no longer
}

// run runs a test at a fake clock. At its end every session has been forgotten.
func run(t *testing.T, o transport.Options, test func(*testing.T, *harness)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &harness{t: t, speaks: map[string]client.Me{}}
		o.Make = h.server
		h.restart = func() { h.handler = transport.New(http.HandlerFunc(h.api), o) }
		h.restart()
		test(t, h)
		time.Sleep(13 * time.Hour)
	})
}

// api answers GET /v1/me, and takes heartbeats.
func (h *harness) api(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	me, ok := h.speaks[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	if ok && r.Method == http.MethodPost && r.URL.Path == "/v1/presence" {
		h.beats = append(h.beats, me.Token)
	}
	h.mu.Unlock()
	if !ok {
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"status": 401, "code": "unauthenticated", "detail": "no such token"}`)
		return
	}
	if place := park.From(r.Context()); place != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.asked = append(h.asked, r.URL.RequestURI())
		if h.changed != nil {
			place.Take(h.changed, func() { h.left++ })
		}
		return
	}
	if r.URL.Query().Has("for_model") && me.Role == client.RoleAdmin {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"status": 403, "code": "not_permitted", "detail": "no model has its rights", "hint": "use: trapeze token create --agent NAME"}`)
		return
	}
	_ = json.NewEncoder(w).Encode(me) // in memory
}

// server has one tool: whoami tells by which token the API was asked, after so many seconds.
func (h *harness) server(c *client.Client, _ string, ids func() string) (*mcp.Server, taskext.Source) {
	h.mu.Lock()
	h.clients = append(h.clients, c)
	h.mu.Unlock()
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ServerOptions{GetSessionID: ids, Logger: slog.New(connecting{h})})
	type wait struct {
		Seconds int `json:"seconds"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "whoami"}, func(ctx context.Context, _ *mcp.CallToolRequest, in wait) (*mcp.CallToolResult, any, error) {
		if h.asked != nil { // the call has waited
			left, _ := liveness.WaitThroughRestart(ctx, liveness.Waits{}, 50, func(_ context.Context, left time.Duration) (time.Duration, error) { return left, nil })
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "after " + (50*time.Second - left).String()}}}, nil, nil
		}
		time.Sleep(time.Duration(in.Seconds) * time.Second)
		me, err := c.Me(ctx)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: me.Token}}}, nil, err
	})
	return s, nil
}

// connecting is a log in which the SDK notes that a session exists, before it gives the session its first message.
type connecting struct{ h *harness }

func (c connecting) Enabled(context.Context, slog.Level) bool { return true }
func (c connecting) WithAttrs([]slog.Attr) slog.Handler       { return c }
func (c connecting) WithGroup(string) slog.Handler            { return c }

func (c connecting) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "server session connected" {
		c.h.mu.Lock()
		begins := c.h.begins
		c.h.mu.Unlock()
		time.Sleep(begins)
	}
	return nil
}

// token lets a token speak for somebody, and gives it.
func (h *harness) token(id string, me client.Me) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	me.Token = id
	h.speaks["secret-"+id] = me
	return "secret-" + id
}

func (h *harness) revoke(token string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.speaks, token)
}

// coder is an agent.
var coder = client.Me{Workspace: "default", Role: client.RoleAgent, Name: "coder", Agent: "coder"}

// agent is an agent of a name.
func agent(name string) client.Me {
	me := coder
	me.Name, me.Agent = name, name
	return me
}

// reply is what came back.
type reply struct {
	status  int
	header  http.Header
	body    string
	session string
}

// code is that of an error of the protocol; 0: it is none.
func (r reply) code(t *testing.T) int64 {
	t.Helper()
	var e struct {
		Error struct {
			Code int64 `json:"code"`
		} `json:"error"`
	}
	if err := json.Unmarshal([]byte(r.body), &e); err != nil {
		t.Fatalf("%q: %v", r.body, err)
	}
	return e.Error.Code
}

// line is an answer that comes.
type line struct {
	status int
	header http.Header
	body   io.ReadCloser
}

// open sends a message, in the older protocol, and leaves the answer to be read.
func (h *harness) open(ctx context.Context, method, token, session, body string, more ...string) line {
	h.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, "http://localhost/mcp", strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	headers := append([]string{
		"Authorization", "Bearer " + token, "Content-Type", "application/json", "Accept", "application/json, text/event-stream",
		"Mcp-Protocol-Version", sessionVersion, "Mcp-Session-Id", session,
	}, more...)
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	res, err := inprocess.Transport(h.handler).RoundTrip(r) //nolint:bodyclose // its reader closes it
	if err != nil {
		h.t.Fatal(err)
	}
	return line{res.StatusCode, res.Header, res.Body}
}

// ask sends a message and reads the answer.
func (h *harness) ask(method, token, session, body string, more ...string) reply {
	h.t.Helper()
	l := h.open(h.t.Context(), method, token, session, body, more...)
	defer func() { _ = l.body.Close() }()
	b, err := io.ReadAll(l.body)
	if err != nil {
		h.t.Fatal(err)
	}
	return reply{l.status, l.header, string(b), l.header.Get("Mcp-Session-Id")}
}

// send posts a message.
func (h *harness) send(token, session, body string) reply {
	h.t.Helper()
	return h.ask(http.MethodPost, token, session, body)
}

// begin begins a session.
func (h *harness) begin(token string) reply {
	h.t.Helper()
	r := h.send(token, "", `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "`+sessionVersion+`", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}}`)
	if r.session != "" {
		h.send(token, r.session, `{"jsonrpc": "2.0", "method": "notifications/initialized"}`)
	}
	return r
}

// session begins one that must not be refused.
func (h *harness) session(token string) string {
	h.t.Helper()
	r := h.begin(token)
	if r.session == "" {
		h.t.Fatalf("no session: %d %s", r.status, r.body)
	}
	return r.session
}

// listen opens a session's own stream, until it is closed.
func (h *harness) listen(token, session string) (end func()) {
	h.t.Helper()
	ctx, cancel := context.WithCancel(h.t.Context())
	l := h.open(ctx, http.MethodGet, token, session, "")
	if l.status != http.StatusOK {
		h.t.Fatalf("no stream: %d", l.status)
	}
	return func() { cancel(); _ = l.body.Close(); synctest.Wait() }
}

// whoami is a call of the tool.
func whoami(id, seconds int) string {
	return fmt.Sprintf(`{"jsonrpc": "2.0", "id": %d, "method": "tools/call", "params": {"name": "whoami", "arguments": {"seconds": %d}}}`, id, seconds)
}
