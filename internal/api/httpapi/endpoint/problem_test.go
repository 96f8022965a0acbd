package endpoint

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trapezehq/trapeze/internal/api/shape"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

func TestEveryCodeHasOneStatus(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/refusals.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range refusal.Codes() {
		s, ok := statuses[code]
		if !ok || s.status < 400 || s.status > 599 || s.title == "" {
			t.Errorf("%s: %+v", code, s)
		}
		if row := fmt.Sprint("\n| `", code, "` | ", s.status, " |"); strings.Count(string(page), row) != 1 {
			t.Errorf("docs/refusals.md has no row that begins with %q", row)
		}
		p := ProblemOf(refusal.New(code, "a hint", "why not"))
		if p.Status != s.status || p.Code != code || p.Hint != "a hint" || p.Type != "urn:trapeze:problem:"+string(code) {
			t.Errorf("%+v", p)
		}
		if s.status == http.StatusServiceUnavailable && p.GetHeaders().Get("Retry-After") == "" {
			t.Errorf("%s does not say when to come back", code)
		}
	}
	if len(statuses) != len(refusal.Codes()) {
		t.Errorf("%d statuses for %d codes", len(statuses), len(refusal.Codes()))
	}
}

func TestAnOpenCircuitSaysWhenToComeBack(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for reset, want := range map[string]int{
		now.Add(30 * time.Second).Format(time.RFC3339): 31, now.Add(-time.Hour).Format(time.RFC3339): 2,
		now.Add(900 * time.Hour).Format(time.RFC3339): 3601, "nonsense": 5,
	} {
		p := ProblemOf(refusal.New(refusal.CircuitOpen, "", "open").With("reset_at", reset))
		if got := p.resetIn(now); got != want {
			t.Errorf("%s: %d, want %d", reset, got, want)
		}
	}
}

func TestAnErrorThatIsNoRefusalIsNotTold(t *testing.T) {
	log := &strings.Builder{}
	d := New(nil, huma.DefaultConfig("", ""), slog.New(slog.NewTextHandler(log, nil)), 0, "", nil)
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

func FuzzABodyIsReadOrRefused(f *testing.F) {
	for _, seed := range []string{
		`{"intent":"x"}`, `{"intent":"x","send":{"to":["a"],"timeouts":{"ack":"15s"}}}`, `{"a":"\"[{"}`, "[[[[", `"\`, "\xff", `{"intent":null}`,
		`{"epoch":18446744073709551615}`, `{"deadline":"2026-01-01T00:00:00Z"}`, `null`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var in tasks.CreateInput
		err := shape.Check(b)
		if err == nil && unmarshal(b, &in) == nil {
			return
		}
		if err == nil {
			err = unmarshal(b, &in)
		}
		p := Malformed(http.StatusBadRequest, "validation failed", []error{err})
		if (p.Code != refusal.Invalid && p.Code != refusal.TooLarge) || p.Detail == "" || p.Hint == "" || len(p.Detail) > 1100 {
			t.Errorf("%+v", p)
		}
	})
}
