package httpapi_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/cluster"
)

// apart is a ledger of a cluster that has no majority while the test says so: reads and writes fail.
type apart struct {
	ledger.Ledger
	alone *atomic.Bool
}

func (d apart) Err() error {
	if d.alone.Load() {
		return ledger.ErrNoMajority
	}
	return d.Ledger.Err()
}

func (d apart) Append(ctx context.Context, e ledger.Entry, expect ledger.Position) (ledger.Position, error) {
	if d.alone.Load() {
		return 0, ledger.ErrNoMajority
	}
	return d.Ledger.Append(ctx, e, expect)
}

func (d apart) Stream(ctx context.Context, s ledger.Stream, after ledger.Position, limit int) ([]ledger.Entry, error) {
	if d.alone.Load() {
		return nil, ledger.ErrNoMajority
	}
	return d.Ledger.Stream(ctx, s, after, limit)
}

// only is one server that hears no other.
type only struct{ cluster.Servers }

func (only) Known(context.Context) cluster.Known {
	return cluster.Known{Engine: cluster.Nodes, Here: "n1", Trouble: "no leader"}
}

// At a server without a majority, operators see the servers with a token that it knows; everything else is refused with the reason and what to do.
func TestWithoutAMajorityTheServersAreShownAndEverythingElseSaysWhy(t *testing.T) {
	var alone atomic.Bool
	h := openOn(t, func(l ledger.Ledger) ledger.Ledger { return apart{l, &alone} }, httpapi.Options{}, usecase.Options{Cluster: only{}})
	_, agent := h.agent("ann")
	if r := h.call(h.admin, "GET /v1/agents", ""); r.status != http.StatusOK {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if r := h.call(agent, "GET /v1/me", ""); r.status != http.StatusOK {
		t.Fatalf("%d %s", r.status, r.body)
	}
	alone.Store(true)
	if r := h.call(h.admin, "GET /v1/cluster", ""); r.status != http.StatusOK || !strings.Contains(r.body, "no leader; n1 hears no other node") {
		t.Errorf("the servers: %d %s", r.status, r.body)
	}
	const why, what = "no majority of the servers that keep it answers this one", `"call":"cluster status"`
	for _, call := range []struct{ token, line, body string }{
		{agent, "GET /v1/cluster", ""}, // of an agent, the record has to say that it is still there
		{h.admin, "GET /v1/agents", ""},
		{h.admin, "POST /v1/cluster/nodes/n1/drain", ""},
		{agent, "POST /v1/tasks", `{"intent":"x"}`},
	} {
		if r := h.call(call.token, call.line, call.body); r.status != http.StatusServiceUnavailable || !strings.Contains(r.body, why) || !strings.Contains(r.body, what) {
			t.Errorf("%s: %d %s", call.line, r.status, r.body)
		}
	}
	if r := h.call("", "GET /readyz", ""); r.status != http.StatusServiceUnavailable || !strings.Contains(r.body, what) {
		t.Errorf("/readyz: %d %s", r.status, r.body)
	}
	for _, token := range []string{"", h.admin + "x", strings.ToUpper(h.admin)} {
		if r := h.call(token, "GET /v1/cluster", ""); r.status == http.StatusOK {
			t.Errorf("the servers, with another token: %s", r.body)
		}
	}
}
