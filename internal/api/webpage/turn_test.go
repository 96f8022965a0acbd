package webpage_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/api/webpage"
)

// One who asks for many pages at once waits for itself: the page makes none of its calls before the turn of its principal.
func TestAPageIsMadeInTheTurnOfItsPrincipal(t *testing.T) {
	var did []string
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/v1/me" {
			_, _ = w.Write([]byte(`{"workspace":"default","role":"agent","name":"bob"}`))
			return
		}
		did = append(did, "call")
		_, _ = w.Write([]byte("{}"))
	})
	full := false
	pages := webpage.New(api, webpage.Options{Turn: func(_ context.Context, workspace, role, name string) (func(), error) {
		if full {
			return nil, errors.New("too many pages")
		}
		did = append(did, "turn of "+workspace+" "+role+" "+name)
		return func() { did = append(did, "end") }, nil
	}})
	in := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/sign-in", strings.NewReader("token=x"))
	in.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	signed := httptest.NewRecorder()
	pages.ServeHTTP(signed, in)
	get := func(path string) int {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1"+path, nil)
		for _, c := range signed.Result().Cookies() {
			r.AddCookie(c)
		}
		got := httptest.NewRecorder()
		pages.ServeHTTP(got, r)
		return got.Code
	}
	did = nil
	if code := get("/dead"); code != http.StatusOK || len(did) < 3 || did[0] != "turn of default agent bob" || did[len(did)-1] != "end" || !slices.Contains(did, "call") {
		t.Errorf("%d, the page did %q", code, did)
	}
	did, full = nil, true
	if code := get("/tasks"); code != http.StatusTooManyRequests || len(did) > 0 {
		t.Errorf("without a turn: %d, the page did %q", code, did)
	}
}
