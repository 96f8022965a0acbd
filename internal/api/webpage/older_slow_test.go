//go:build slow

package webpage

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// One call of a search by words looks in some tasks. The pages go on with older ones, also where none was found.
func TestASearchByWordsGoesOnWithOlderTasks(t *testing.T) {
	const begin, end = "task_06h2d2vprh6kae3zjc9x4cg2x4", "task_06h2d2vp814xk7z22f73w6x8jc"
	pages, _ := New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q, body := r.URL.Query(), `{"tasks":[]}`
		switch {
		case r.URL.Path == "/v1/me":
			body = `{"workspace":"default","role":"operator","name":"eve"}`
		case r.URL.Path != "/v1/tasks":
			t.Errorf("%s is called", r.URL)
		case q.Get("words") == "giraffe" && q.Get("after") == "":
			body = fmt.Sprintf(`{"tasks":[],"next":%q}`, begin)
		case q.Get("words") == "giraffe" && q.Get("after") == begin:
			body = fmt.Sprintf(`{"tasks":[{"id":%q,"intent":"Lift it","state":"pending"}]}`, end)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(body))
	}), Options{}).(*pages)
	get := func(path string) string {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1"+path, nil)
		return asEve(t, pages, r).Body.String()
	}
	for path, says := range map[string][2]string{
		"/find?q=giraffe&in=tasks": {"None of those that were looked in.", `<p><a href="`},
		"/tasks?words=giraffe":     {"None of the tasks that were looked in fits.", `<p><a class="button" id="next" href="`},
	} {
		first := get(path)
		_, rest, _ := strings.Cut(first, says[1])
		older, _, _ := strings.Cut(rest, `"`)
		if !strings.Contains(first, says[0]) || !strings.Contains(older, begin) {
			t.Fatalf("%s goes on at %q: %s", path, older, first)
		}
		second := get(strings.ReplaceAll(older, "&amp;", "&"))
		if !strings.Contains(second, "/tasks/"+end) || strings.Contains(second, says[0]) || strings.Contains(second, begin+`"`) {
			t.Errorf("%s: %s", older, second)
		}
	}
}
