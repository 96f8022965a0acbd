package httpapi_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/usecase"

	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// sour is a handler whose use cases fail in the given way.
func sour(t *testing.T, l ledger.Ledger, v view.Store) (http.Handler, *strings.Builder) {
	t.Helper()
	a, err := usecase.New(l, v, usecase.Options{})
	if err != nil {
		t.Fatal(err)
	}
	log := &strings.Builder{}
	return httpapi.New(&a.Surface, httpapi.Options{Log: textLog(log)}), log
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
	a, err := usecase.New(d, view.Store{}, usecase.Options{})
	if err != nil {
		t.Fatal(err)
	}
	token, err := a.Tokens.Bootstrap(t.Context(), "default")
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
