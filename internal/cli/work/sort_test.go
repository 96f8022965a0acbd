package work

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

// A share that was read has left the inbox: the worker goes on at once. One that cannot be read does not, and must not hide others.
func TestSharesThatWereReadAreProgress(t *testing.T) {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(r.URL.Path, "good") {
			_, _ = w.Write([]byte("{}"))
			return
		}
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"code":"not_found","title":"there is none"}`))
	}))
	defer api.Close()
	var said strings.Builder
	c, err := client.New(api.URL, "x", client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := &worker{c: c, o: Options{Stderr: &said}}
	taken, others := w.sort(t.Context(), []client.Item{{Type: "share", ID: "good.s1"}, {Type: "share", ID: "bad.s1"}, {Type: "question", ID: "x.k1"}})
	if taken != 1 || others != 2 {
		t.Errorf("%d were taken and %d others left, want 1 and 2; %s", taken, others, said.String())
	}
}
