package httpapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestFiguresAreForThoseWhoMayReadEverything(t *testing.T) {
	h := open(t, httpapi.Options{Metrics: func(workspace string) (http.Handler, error) {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintf(w, "figures of %s", workspace) }), nil
	}})
	_, agent := h.agent("planner")
	auditor, err := h.as(h.admin).CreateToken(t.Context(), client.TokenInput{Role: client.RoleAuditor, Name: "prometheus"})
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{h.admin, auditor.Text} {
		if r := h.call(token, "GET /metrics", ""); r.status != http.StatusOK || r.body != "figures of "+identity.DefaultWorkspace {
			t.Errorf("%d: %s", r.status, r.body)
		}
	}
	if p := h.call(agent, "GET /metrics", "").problem(t); p.Code != refusal.NotPermitted {
		t.Errorf("an agent: %+v", p)
	}
	if p := h.call("", "GET /metrics", "").problem(t); p.Code != refusal.Unauthenticated {
		t.Errorf("without a token: %+v", p)
	}
	if p := open(t, httpapi.Options{}).call(h.admin, "GET /metrics", "").problem(t); p.Code != refusal.Unauthenticated {
		t.Errorf("with the token of another server: %+v", p)
	}
}

func TestCallsAreCountedByTheirRoutes(t *testing.T) {
	var mu sync.Mutex
	var calls []string
	h := open(t, httpapi.Options{Called: func(method, route string, code int, took time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		calls = append(calls, fmt.Sprint(method, " ", route, " ", code))
		if took < 0 {
			t.Error(took)
		}
	}})
	h.call(h.admin, "GET /v1/tasks/task_1", "")
	h.call(h.admin, "GET /v1/tasks", "")
	h.call("", "GET /v1/tasks/task_2", "")
	h.call("", "GET /healthz", "")
	h.call(h.admin, "GET /v1/invented/by/an/attacker", "")
	h.call("", "GET /invented", "")
	h.call(h.admin, "POST /v1/tasks", "{")
	h.Close() // a call is counted when its answer may have arrived already
	want := []string{
		"GET /v1/tasks/{id} 400", "GET /v1/tasks 200", "GET /v1/tasks/{id} 401", "GET /healthz 200", "GET  404", "GET  404", "POST /v1/tasks 400",
	}
	slices.Sort(want)
	slices.Sort(calls)
	if !slices.Equal(calls, want) {
		t.Errorf("got %q, want %q", calls, want)
	}
}

func TestStatsAreRefusedToAgentsAndWithoutFigures(t *testing.T) {
	h := open(t, httpapi.Options{})
	_, agent := h.agent("planner")
	for token, want := range map[string]refusal.Code{agent: refusal.NotPermitted, h.admin: refusal.Conflict} {
		if p := h.call(token, "GET /v1/stats", "").problem(t); p.Code != want || p.Hint == "" {
			t.Errorf("%+v", p)
		}
	}
	if p := h.call(h.admin, "GET /v1/stats?span=1y", "").problem(t); p.Code != refusal.Invalid {
		t.Errorf("a span that is none: %+v", p)
	}
}
