package mcpapi_test

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/inprocess"
	"github.com/trapezehq/trapeze/internal/api/mcpapi"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/liveness"
)

// beats counts the heartbeats that reach an API.
type beats struct {
	http.Handler
	n atomic.Int32
}

func (b *beats) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/presence" {
		b.n.Add(1)
	}
	b.Handler.ServeHTTP(w, r)
}

// served connects a client to the server of a principal, in the process.
func (h *harness) served(api http.Handler, token string, o mcpapi.Options) *agent {
	h.t.Helper()
	c, err := client.New("http://localhost", token, client.Options{Retries: -1, HTTP: &http.Client{Transport: inprocess.Transport(api)}})
	if err != nil {
		h.t.Fatal(err)
	}
	ours, theirs := mcp.NewInMemoryTransports()
	if _, err := mcpapi.New(c, o).Connect(h.t.Context(), ours, nil); err != nil {
		h.t.Fatal(err)
	}
	s, err := mcp.NewClient(&mcp.Implementation{Name: "me", Version: "1"}, nil).Connect(h.t.Context(), theirs, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = s.Close() })
	return &agent{s, h.t, "me"}
}

func TestACallOfAToolIsASignOfLife(t *testing.T) {
	h := open(t)
	token := h.token("coder")
	for _, c := range []struct {
		remote bool
		beats  int32
	}{{false, 1}, {true, 0}} {
		api := &beats{Handler: h.api}
		a := h.served(api, token, mcpapi.Options{Remote: c.remote})
		if api.n.Load() != 0 {
			t.Error("a heartbeat was sent before any call")
		}
		a.call("recall", m{})
		if n := api.n.Load(); n != c.beats {
			t.Errorf("remote %v: %d heartbeats, want %d", c.remote, n, c.beats)
		}
	}
}

func TestWhoKeepsTasksIsToldHowTheyStand(t *testing.T) {
	h := open(t)
	var told []liveness.TaskStatus
	a := h.served(h.api, h.token("coder"), mcpapi.Options{OnStatus: func(s liveness.TaskStatus) { told = append(told, s) }})
	a.call("join", m{})
	_, made := a.call("send", m{"intent": "sweep"})
	a.call("status", m{"id": made["task"]})
	a.call("complete", m{"task": made["task"], "text": "clean"})
	a.try("complete", m{"task": made["task"], "text": "again"})
	if len(told) != 3 {
		t.Fatalf("told of %v", told)
	}
	for i, want := range []liveness.TaskStatus{{State: client.Executing}, {State: client.Executing, ReadOnly: true}, {State: client.Completed}} {
		if got := told[i]; got.Task != made["task"] || got.Owner != "coder" || got.Epoch != 1 || got.State != want.State || got.ReadOnly != want.ReadOnly {
			t.Errorf("after call %d: %+v", i+1, got)
		}
		if running := !told[i].Lease.IsZero(); running != (want.State == client.Executing) {
			t.Errorf("after call %d the lease is %s", i+1, told[i].Lease)
		}
	}
}
