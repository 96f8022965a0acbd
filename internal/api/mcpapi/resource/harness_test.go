package resource_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/inprocess"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/resource"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/view/sqltest"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// house is an API, and showcases of agents that are read over it.
type harness struct {
	t     *testing.T
	api   http.Handler
	admin *client.Client
}

func open(t *testing.T) *harness {
	t.Helper()
	log, views := sqltest.Open(t)
	a, err := tasks.New(log, views.Store(), tasks.Options{})
	if err != nil {
		t.Fatal(err)
	}
	admin, err := a.Bootstrap(t.Context(), identity.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{t: t, api: httpapi.New(a, httpapi.Options{Log: slog.New(slog.DiscardHandler), Version: "test"})}
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

// task sends a task to an agent and gives its id.
func (h *harness) task(to string) string {
	h.t.Helper()
	sent, err := h.admin.CreateTask(h.t.Context(), client.CreateInput{Intent: "Write", Send: &client.SendInput{To: []string{to}}})
	if err != nil {
		h.t.Fatal(err)
	}
	return sent.Task
}

// agent registers an agent and gives the server that shows it what it may see, and what is asked of the API for it.
func (h *harness) agent(name string) (*mcp.Server, *line) {
	h.t.Helper()
	h.add(name)
	token, err := h.admin.CreateToken(h.t.Context(), client.TokenInput{Role: client.RoleAgent, Name: name})
	if err != nil {
		h.t.Fatal(err)
	}
	l := &line{next: inprocess.Transport(h.api)}
	show, options := resource.New(h.as(token.Text, l)), &mcp.ServerOptions{}
	show.Configure(options)
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, options)
	show.Install(s)
	return s, l
}

// line is the way to the API: it knows what went over it, and how many streams of events are open.
type line struct {
	next http.RoundTripper

	mu      sync.Mutex
	paths   []string
	streams int
}

func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := l.next.RoundTrip(r)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paths = append(l.paths, r.URL.EscapedPath())
	if err == nil && strings.HasSuffix(r.URL.Path, "/events") {
		l.streams++
		res.Body = &streamed{res.Body, sync.OnceFunc(func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.streams--
		})}
	}
	return res, err
}

// streamed is a stream of events that says when it is closed.
type streamed struct {
	io.ReadCloser
	closed func()
}

func (s *streamed) Close() error {
	s.closed()
	return s.ReadCloser.Close()
}

// asked is what went over the line since it was last looked at.
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
	return l.streams
}

// visitor is a client that remembers what it was told has changed.
type visitor struct {
	*mcp.ClientSession
	mu   sync.Mutex
	told []string
}

// visit connects a client in an era of the protocol.
func (h *harness) visit(s *mcp.Server, era string) *visitor {
	h.t.Helper()
	near, far := mcp.NewInMemoryTransports()
	if _, err := s.Connect(h.t.Context(), far, nil); err != nil {
		h.t.Fatal(err)
	}
	v := &visitor{}
	c := mcp.NewClient(&mcp.Implementation{Name: "visitor", Version: "1"}, &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			v.mu.Lock()
			defer v.mu.Unlock()
			v.told = append(v.told, r.Params.URI)
		},
	})
	var err error
	if v.ClientSession, err = c.Connect(h.t.Context(), near, &mcp.ClientSessionOptions{ProtocolVersion: era}); err != nil {
		h.t.Fatal(err)
	}
	return v
}

// changed is what the client was told since it was last asked, sorted.
func (v *visitor) changed() []string {
	time.Sleep(time.Second)
	synctest.Wait()
	v.mu.Lock()
	defer v.mu.Unlock()
	told := v.told
	v.told = nil
	slices.Sort(told)
	return told
}

// inBothEras runs a test in both eras of the protocol, at a fake clock.
func inBothEras(t *testing.T, test func(t *testing.T, era string)) {
	for _, era := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(era, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, era) })
		})
	}
}
