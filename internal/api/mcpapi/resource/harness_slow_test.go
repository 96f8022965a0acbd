//go:build slow

package resource_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/api/inprocess"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/resource"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/files/artifact/filestore"
	"github.com/trapezehq/trapeze/internal/record/view/sqltest"
)

// The last protocol version with sessions, and the first without.
const (
	sessionVersion   = "2025-11-25"
	statelessVersion = "2026-07-28"
)

// harness is an HTTP API, and MCP servers of agents that call it.
type harness struct {
	t     *testing.T
	api   http.Handler
	admin *client.Client
}

func open(t *testing.T) *harness {
	t.Helper()
	log, views := sqltest.Open(t)
	store, err := filestore.Open(t.TempDir(), filestore.Options{MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	a, err := usecase.New(log, views.Store(), usecase.Options{Artifacts: store})
	if err != nil {
		t.Fatal(err)
	}
	admin, err := a.Tokens.Bootstrap(t.Context(), identity.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{t: t, api: httpapi.New(&a.Surface, httpapi.Options{Log: slog.New(slog.DiscardHandler), Version: "test"})}
	h.admin = h.as(admin, inprocess.Transport(h.api))
	return h
}

func (h *harness) as(token string, way http.RoundTripper) *client.Client {
	h.t.Helper()
	c, err := client.New("http://localhost", token, client.Options{Retries: -1, HTTP: &http.Client{Transport: way}})
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

// add registers an agent.
func (h *harness) add(name string, capabilities ...string) {
	h.t.Helper()
	if _, err := h.admin.RegisterAgent(h.t.Context(), name, client.AgentSpec{Capabilities: capabilities}); err != nil {
		h.t.Fatal(err)
	}
}

// caller is a client of an agent.
func (h *harness) caller(name string) *client.Client {
	h.t.Helper()
	token, err := h.admin.CreateToken(h.t.Context(), client.TokenInput{Role: client.RoleAgent, Name: name})
	if err != nil {
		h.t.Fatal(err)
	}
	return h.as(token.Text, inprocess.Transport(h.api))
}

// task sends a task to an agent and gives its id.
func (h *harness) task(to string) string {
	h.t.Helper()
	sent, err := h.admin.CreateTask(h.t.Context(), client.CreateInput{Intent: "Write", Send: &client.SendInput{To: []string{to}}})
	if err != nil {
		h.t.Fatal(err)
	}
	return sent.Task
}

// agent registers an agent, and returns its MCP server and the line from the server to the API.
func (h *harness) agent(name string) (*mcp.Server, *line) {
	h.t.Helper()
	h.add(name)
	token, err := h.admin.CreateToken(h.t.Context(), client.TokenInput{Role: client.RoleAgent, Name: name})
	if err != nil {
		h.t.Fatal(err)
	}
	l := &line{next: inprocess.Transport(h.api), streams: map[*streamed]bool{}}
	show, options := resource.New(h.as(token.Text, l)), &mcp.ServerOptions{}
	show.Configure(options)
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, options)
	show.Install(s)
	return s, l
}

// line is the connection to the API. It records requests and open event streams, and can be cut.
type line struct {
	next http.RoundTripper

	mu      sync.Mutex
	paths   []string
	streams map[*streamed]bool
	down    bool
}

func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		return nil, errors.New("the line is cut")
	}
	res, err := l.next.RoundTrip(r)
	l.paths = append(l.paths, r.URL.EscapedPath())
	if err == nil && strings.HasSuffix(r.URL.Path, "/events") {
		s := &streamed{res.Body, l}
		l.streams[s], res.Body = true, s
	}
	return res, err
}

// cut cuts the line, which closes its streams, or restores it.
func (l *line) cut(down bool) {
	l.mu.Lock()
	l.down = down
	open := slices.Collect(maps.Keys(l.streams))
	l.mu.Unlock()
	for _, s := range open {
		if down {
			_ = s.Close()
		}
	}
}

// streamed is the body of an event stream.
type streamed struct {
	io.ReadCloser
	line *line
}

func (s *streamed) Close() error {
	s.line.mu.Lock()
	delete(s.line.streams, s)
	s.line.mu.Unlock()
	return s.ReadCloser.Close()
}

// asked returns the paths of the requests since the last call.
func (l *line) asked() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	paths := l.paths
	l.paths = nil
	return paths
}

func (l *line) open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.streams)
}

// subscriber is a client that records notifications of changes.
type subscriber struct {
	*mcp.ClientSession
	mu   sync.Mutex
	told []string
}

// visit connects a client with a protocol version.
func (h *harness) visit(s *mcp.Server, version string) *subscriber {
	h.t.Helper()
	near, far := mcp.NewInMemoryTransports()
	if _, err := s.Connect(h.t.Context(), far, nil); err != nil {
		h.t.Fatal(err)
	}
	v := &subscriber{}
	c := mcp.NewClient(&mcp.Implementation{Name: "subscriber", Version: "1"}, &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			v.mu.Lock()
			defer v.mu.Unlock()
			v.told = append(v.told, r.Params.URI)
		},
	})
	var err error
	if v.ClientSession, err = c.Connect(h.t.Context(), near, &mcp.ClientSessionOptions{ProtocolVersion: version}); err != nil {
		h.t.Fatal(err)
	}
	return v
}

// on subscribes to resources.
func (v *subscriber) on(t *testing.T, uris ...string) {
	t.Helper()
	for _, uri := range uris {
		if err := v.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
			t.Fatal(err)
		}
	}
}

// settle waits until everything in progress has happened.
func settle() {
	time.Sleep(time.Second)
	synctest.Wait()
}

// changed returns the sorted URIs of the notifications since the last call.
func (v *subscriber) changed() []string {
	settle()
	v.mu.Lock()
	defer v.mu.Unlock()
	told := v.told
	v.told = nil
	slices.Sort(told)
	return told
}

// eachVersion runs a test with and without sessions, with a fake clock.
func eachVersion(t *testing.T, test func(t *testing.T, version string)) {
	for _, version := range []string{sessionVersion, statelessVersion} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, version) })
		})
	}
}
