package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/ledger"
	"github.com/trapezehq/trapeze/internal/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/surface/httpapi/shape"
	"github.com/trapezehq/trapeze/internal/view"
)

func TestEveryCodeHasOneStatus(t *testing.T) {
	for _, code := range refusal.Codes() {
		s, ok := statuses[code]
		if !ok || s.status < 400 || s.status > 599 || s.title == "" {
			t.Errorf("%s: %+v", code, s)
		}
		p := problemOf(refusal.New(code, "a hint", "why not"))
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
		p := problemOf(refusal.New(refusal.CircuitOpen, "", "open").With("reset_at", reset))
		if got := p.resetIn(now); got != want {
			t.Errorf("%s: %d, want %d", reset, got, want)
		}
	}
}

// sour is a handler whose use cases fail in the given way.
func sour(t *testing.T, l ledger.Ledger, v view.Store) (http.Handler, *strings.Builder) {
	t.Helper()
	a, err := app.New(l, v, app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	log := &strings.Builder{}
	return New(a, Options{Log: textLog(log)}), log
}

// views are a store of which only what a test needs is there.
type views struct {
	view.Freshness
	err error
}

func (v views) Position() ledger.Position { return 0 }
func (v views) Err() error                { return v.err }

func TestReadinessSaysWhyNot(t *testing.T) {
	d := ledgertest.NewDouble(ledgertest.Faults{})
	h, _ := sour(t, d, view.Store{Freshness: views{}})
	get := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = "localhost"
		h.ServeHTTP(w, r)
		return w
	}
	if w := get("/readyz"); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	d.Break(errors.New("the disk is full"))
	if w := get("/readyz"); w.Code != 503 || !strings.Contains(w.Body.String(), "the disk is full") || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := get("/healthz"); w.Code != 200 {
		t.Errorf("the process is alive: %d", w.Code)
	}
	d.Break(nil)
	h, _ = sour(t, d, view.Store{Freshness: views{err: errors.New("views are stale")}})
	if w := get("/readyz"); w.Code != 503 || !strings.Contains(w.Body.String(), "views are stale") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestWhatGoesWrongInsideStaysInside(t *testing.T) {
	d := ledgertest.NewDouble(ledgertest.Faults{})
	h, log := sour(t, d, view.Store{Freshness: views{}}) // no directory: listing agents panics
	a, err := app.New(d, view.Store{}, app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	token, err := a.Bootstrap(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/v1/agents", nil)
	r.Host = "localhost"
	r.Header.Set("Authorization", "Bearer "+token)
	h.ServeHTTP(w, r)
	body := w.Body.String()
	if w.Code != http.StatusInternalServerError || !strings.Contains(body, `"code":"unavailable"`) || strings.Contains(body, "nil pointer") {
		t.Fatalf("%d %s", w.Code, body)
	}
	_, rest, _ := strings.Cut(body, `"request":"`)
	id, _, _ := strings.Cut(rest, `"`)
	if id == "" || !strings.Contains(log.String(), id) || !strings.Contains(log.String(), "nil pointer") {
		t.Errorf("request %q; the log: %s", id, log)
	}
}

func TestAnErrorThatIsNoRefusalIsNotTold(t *testing.T) {
	log := &strings.Builder{}
	s := &service{log: textLog(log)}
	p := s.problem(t.Context(), errors.New("open /secret/path: no such file"))
	if p.Status != 500 || p.Code != refusal.Unavailable || strings.Contains(p.Detail, "secret") || !strings.Contains(log.String(), "/secret/path") {
		t.Errorf("%+v; %s", p, log)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if p := s.problem(ctx, context.Canceled); p.Status != 503 || p.Code != refusal.Unavailable {
		t.Errorf("%+v", p)
	}
	if p := s.problem(t.Context(), refusal.New("teapot", "", "short and stout")); p.Status != 500 {
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
		var in app.CreateInput
		err := shape.Check(b)
		if err == nil && unmarshal(b, &in) == nil {
			return
		}
		if err == nil {
			err = unmarshal(b, &in)
		}
		p := malformed(http.StatusBadRequest, "validation failed", []error{err})
		if (p.Code != refusal.Invalid && p.Code != refusal.TooLarge) || p.Detail == "" || p.Hint == "" || len(p.Detail) > 1100 {
			t.Errorf("%+v", p)
		}
	})
}
