//go:build slow

package multiplex_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/trapezehq/trapeze/client"
	protocol "github.com/trapezehq/trapeze/client/multiplex"

	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/api/multiplex"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/files/artifact/filestore"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview"
	"github.com/trapezehq/trapeze/internal/usecase"
)

// server is the API in memory, with connections for many calls.
type server struct {
	*httptest.Server
	t        *testing.T
	token    string // of its administrator
	shared   *http.Client
	opened   atomic.Int64 // connections
	hijacked chan net.Conn
	stopping context.Context //nolint:containedctx // of a server
	stop     context.CancelFunc
}

// serve serves the API, whose calls on such connections go through around.
func serve(t *testing.T, around func(api http.Handler) http.Handler) *server {
	t.Helper()
	log := ledgertest.NewDouble(ledgertest.Faults{})
	views, err := sqlview.Follow(t.Context(), log, "")
	must(t, err)
	store, err := filestore.Open(t.TempDir(), filestore.Options{})
	must(t, err)
	uses, err := usecase.New(log, views.Store(), usecase.Options{Artifacts: store})
	must(t, err)
	s := &server{t: t, shared: protocol.HTTP(nil), hijacked: make(chan net.Conn, 16)}
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.token, err = uses.Tokens.Bootstrap(t.Context(), identity.DefaultWorkspace)
	must(t, err)
	o := httpapi.Options{Log: slog.New(slog.DiscardHandler), Stopping: func() context.Context { return s.stopping }}
	if around != nil {
		o.Mounts = map[string]func(http.Handler) http.Handler{protocol.Path: func(api http.Handler) http.Handler {
			return multiplex.New(around(api), func() context.Context { return s.stopping })
		}}
	}
	s.Server = httptest.NewUnstartedServer(httpapi.New(&uses.Surface, o))
	s.Config.ConnState = func(c net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			s.opened.Add(1)
		case http.StateHijacked:
			s.hijacked <- c
		case http.StateActive, http.StateIdle, http.StateClosed:
		}
	}
	s.Start()
	t.Cleanup(func() {
		s.shared.CloseIdleConnections()
		s.stop()
		s.CloseClientConnections()
		s.Close()
		must(t, errors.Join(store.Close(), views.Close(), log.Close()))
	})
	return s
}

func asItIs(api http.Handler) http.Handler { return api }

// client returns a client of the server on the shared connection.
func (s *server) client(token string) *client.Client {
	s.t.Helper()
	c, err := client.New(s.URL, token, client.Options{HTTP: s.shared})
	must(s.t, err)
	return c
}

// agent adds an agent and returns its client.
func (s *server) agent(name string) *client.Client {
	s.t.Helper()
	admin := s.client(s.token)
	_, err := admin.RegisterAgent(s.t.Context(), name, client.AgentSpec{})
	must(s.t, err)
	token, err := admin.CreateToken(s.t.Context(), client.TokenInput{Role: client.RoleAgent, Name: name})
	must(s.t, err)
	return s.client(token.Text)
}

// raw opens a connection for frames.
func (s *server) raw() *protocol.Frames {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.URL+protocol.Path, nil)
	must(s.t, err)
	r.Header = http.Header{"Authorization": {"Bearer " + s.token}, "Connection": {"Upgrade"}, "Upgrade": {protocol.Protocol}}
	res, err := http.DefaultTransport.RoundTrip(r) //nolint:bodyclose // frames.Close does
	must(s.t, err)
	body, ok := res.Body.(io.ReadWriteCloser)
	if !ok || res.StatusCode != http.StatusSwitchingProtocols {
		s.t.Fatalf("the server answers %s", res.Status)
	}
	frames := protocol.NewFrames(body, nil)
	s.t.Cleanup(frames.Close)
	return frames
}

func send(t *testing.T, f *protocol.Frames, call uint32, message string) {
	t.Helper()
	must(t, f.Send(call, func(to []byte) []byte { return append(to, message...) }))
}

// held is an API whose first call on a connection waits to be let go.
type held struct {
	once         sync.Once
	begun, letGo chan struct{}
}

func newHeld() *held { return &held{begun: make(chan struct{}), letGo: make(chan struct{})} }

func (h *held) around(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.once.Do(func() {
			close(h.begun)
			select {
			case <-h.letGo:
			case <-r.Context().Done():
				close(h.letGo)
			}
		})
		api.ServeHTTP(w, r)
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
