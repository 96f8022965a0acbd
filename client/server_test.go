package client_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"

	"github.com/trapezehq/trapeze/internal/usecase"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/files/artifact/filestore"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview"
)

// testServer is a server in memory, for examples.
type testServer struct {
	*httptest.Server
	admin *client.Client
	stop  func() error
}

func open() *testServer {
	log := ledgertest.NewDouble(ledgertest.Faults{})
	views, err := sqlview.Follow(context.Background(), log, "")
	must(err)
	dir, err := os.MkdirTemp("", "client-")
	must(err)
	store, err := filestore.Open(dir, filestore.Options{})
	must(err)
	a, err := usecase.New(log, views.Store(), usecase.Options{Artifacts: store})
	must(err)
	admin, err := a.Tokens.Bootstrap(context.Background(), identity.DefaultWorkspace)
	must(err)
	h := &testServer{Server: httptest.NewServer(httpapi.New(&a.Surface, httpapi.Options{Log: slog.New(slog.NewTextHandler(io.Discard, nil))}))}
	h.stop = func() error { return errors.Join(store.Close(), os.RemoveAll(dir), views.Close(), log.Close()) }
	h.admin, err = client.New(h.URL, admin, client.Options{})
	must(err)
	return h
}

func (h *testServer) close() {
	h.CloseClientConnections()
	h.Close()
	must(h.stop())
}

// agent adds an agent and returns a client that speaks for it.
func (h *testServer) agent(name string) *client.Client {
	_, err := h.admin.RegisterAgent(context.Background(), name, client.AgentSpec{})
	must(err)
	t, err := h.admin.CreateToken(context.Background(), client.TokenInput{Role: client.RoleAgent, Name: name})
	must(err)
	c, err := client.New(h.URL, t.Text, client.Options{})
	must(err)
	return c
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
