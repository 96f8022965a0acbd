package httpapi_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view/sqltest"
	"github.com/trapezehq/trapeze/internal/usecase"
)

// leaving is a record during whose first reading of a task the caller goes away.
type leaving struct {
	ledger.Ledger
	leave func()
}

func (l leaving) Stream(ctx context.Context, s ledger.Stream, after ledger.Position, limit int) ([]ledger.Entry, error) {
	if _, kind, _ := s.Parts(); kind == ledger.TaskKind {
		l.leave()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return l.Ledger.Stream(ctx, s, after, limit)
}

func TestTheLogHasTheTraceOfATaskAlsoIfTheCallerHasGone(t *testing.T) {
	record, views := sqltest.Open(t)
	token := ""
	call := func(method, path, body string, leaves bool) (answer, log string) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		of := leaving{record, func() {}}
		if leaves {
			of.leave = cancel
		}
		app, err := usecase.New(of, views.Store(), usecase.Options{}) // which has read no task yet
		if err == nil && token == "" {
			token, err = app.Tokens.Bootstrap(t.Context(), identity.DefaultWorkspace)
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := &strings.Builder{}
		h := httpapi.New(&app.Surface, httpapi.Options{Log: slog.New(slog.NewTextHandler(lines, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
		r.Host = "localhost"
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Body.String(), lines.String()
	}
	var made struct{ Task string }
	answer, _ := call(http.MethodPost, "/v1/tasks", `{"intent": "x"}`, false)
	if err := json.Unmarshal([]byte(answer), &made); err != nil || made.Task == "" {
		t.Fatalf("%v: %s", err, answer)
	}
	traces := regexp.MustCompile(`msg=call .*trace=([0-9a-f]{32})`)
	var found []string
	for _, leaves := range []bool{false, true} {
		answer, log := call(http.MethodGet, "/v1/tasks/"+made.Task, "", leaves)
		line := traces.FindStringSubmatch(log)
		if line == nil || leaves == strings.Contains(answer, `"intent"`) {
			t.Fatalf("the caller leaves: %v: %s\n%s", leaves, answer, log)
		}
		found = append(found, line[1])
	}
	if found[0] != found[1] {
		t.Errorf("the trace of the task is %s, that in the log is %s", found[0], found[1])
	}
}
