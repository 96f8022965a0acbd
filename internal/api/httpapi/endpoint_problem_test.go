package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestEveryCodeHasOneStatus(t *testing.T) {
	page, err := os.ReadFile("../../../docs/refusals.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range refusal.Codes() {
		p := endpoint.ProblemOf(refusal.New(code, "a hint", "why not"))
		if row := fmt.Sprint("\n| `", code, "` | ", p.Status, " |"); strings.Count(string(page), row) != 1 {
			t.Errorf("docs/refusals.md has no row that begins with %q", row)
		}
		if p.Status < 400 || p.Status > 599 || p.Title == "" || p.Code != code || p.Hint != "a hint" || p.Type != "urn:trapeze:problem:"+string(code) {
			t.Errorf("%+v", p)
		}
		if p.Status == http.StatusServiceUnavailable && p.GetHeaders().Get("Retry-After") == "" {
			t.Errorf("%s does not say when to come back", code)
		}
	}
}

func TestAnOpenCircuitSaysWhenToComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		for reset, want := range map[string]string{
			now.Add(30 * time.Second).Format(time.RFC3339): "31", now.Add(-time.Hour).Format(time.RFC3339): "2",
			now.Add(900 * time.Hour).Format(time.RFC3339): "3601", "nonsense": "5",
		} {
			p := endpoint.ProblemOf(refusal.New(refusal.CircuitOpen, "", "open").With("reset_at", reset))
			if got := p.GetHeaders().Get("Retry-After"); got != want {
				t.Errorf("%s: %s, want %s", reset, got, want)
			}
		}
	})
}

func TestAnErrorThatIsNoRefusalIsNotTold(t *testing.T) {
	log := &strings.Builder{}
	d := endpoint.New(nil, huma.DefaultConfig("", ""), slog.New(slog.NewTextHandler(log, nil)), 0, "", nil)
	p := d.Problem(t.Context(), errors.New("open /secret/path: no such file"))
	if p.Status != 500 || p.Code != refusal.Unavailable || strings.Contains(p.Detail, "secret") || !strings.Contains(log.String(), "/secret/path") {
		t.Errorf("%+v; %s", p, log)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if p := d.Problem(ctx, context.Canceled); p.Status != 503 || p.Code != refusal.Unavailable {
		t.Errorf("%+v", p)
	}
	if p := d.Problem(t.Context(), refusal.New("teapot", "", "short and stout")); p.Status != 500 {
		t.Errorf("a code that is none: %+v", p)
	}
}
