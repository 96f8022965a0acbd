package httpapi_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestOnlyAValidTokenIsAccepted(t *testing.T) {
	h := open(t, httpapi.Options{})
	_, token := h.agent("writer")
	if r := h.call(token, "GET /v1/me", ""); r.status != 200 || !strings.Contains(r.body, `"name":"writer"`) {
		t.Fatal(r)
	}
	for name, headers := range map[string][]string{
		"none":            nil,
		"another scheme":  {"Authorization: Basic d3JpdGVyOng="},
		"half a token":    {"Authorization: Bearer " + token[:len(token)-1]},
		"an empty one":    {"Authorization: Bearer "},
		"one in a cookie": {"Cookie: token=" + token},
		"a long one":      {"Authorization: Bearer " + strings.Repeat("x", 5000)},
	} {
		r := h.call("", "GET /v1/me", "", headers...)
		if p := r.problem(t); p.Code != refusal.Unauthenticated || r.header.Get("WWW-Authenticate") == "" || p.Hint == "" {
			t.Errorf("%s: %v", name, r)
		}
	}
	id, _, _ := strings.Cut(strings.TrimPrefix(token, "tz_"), "_")
	if _, err := h.as(h.admin).RevokeToken(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if p := h.call(token, "GET /v1/me", "").problem(t); p.Code != refusal.Unauthenticated || !strings.Contains(p.Detail, "revoked") {
		t.Error(p)
	}
}

func TestEveryRouteUnderV1NeedsAToken(t *testing.T) {
	h := open(t, httpapi.Options{})
	for line := range operations(t, h) {
		if r := h.call("", line, ""); r.status != http.StatusUnauthorized {
			t.Errorf("%s: %d", line, r.status)
		}
	}
}

func TestAuditorsSeeEverythingAndChangeNothing(t *testing.T) {
	h := open(t, httpapi.Options{})
	planner, _ := h.agent("planner")
	made, err := planner.CreateTask(t.Context(), client.CreateInput{Intent: "x", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	token, err := h.as(h.admin).CreateToken(t.Context(), client.TokenInput{Role: client.RoleAuditor, Name: "eve"})
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]int{
		"GET /v1/tasks/" + made.Task:                    200,
		"GET /v1/tasks/" + made.Task + "/trail":         200,
		"GET /v1/audit/export?format=csv":               200,
		"GET /v1/inbox?agent=planner":                   200,
		"POST /v1/tasks/" + made.Task + "/cancel":       403,
		"PUT /v1/agents/planner/readiness":              403,
		"DELETE /v1/agents/planner":                     403,
		"POST /v1/dead/" + made.Task + "/replay":        403,
		"GET /v1/tokens":                                403,
		"POST /v1/tasks/" + made.Task + "/takeover":     403,
		"POST /v1/handoffs/" + made.Task + ".h1/accept": 403,
	} {
		body := ""
		if strings.HasPrefix(line, "PUT") {
			body = `{"readiness":"offline"}`
		}
		if r := h.call(token.Text, line, body); r.status != want {
			t.Errorf("%s: %d %s", line, r.status, r.body)
		}
	}
}

func TestTheServerAnswersOnlyToItsOwnNames(t *testing.T) {
	h := open(t, httpapi.Options{Hosts: []string{"trapeze.example.org"}})
	for host, ok := range map[string]bool{
		"localhost:8727": true, "LOCALHOST": true, "app.localhost": true, "127.0.0.1:1": true, "[::1]:8727": true, "10.0.0.7": true,
		"trapeze.example.org": true, "Trapeze.example.org:443": true,
		"evil.example": false, "localhost.evil.example": false, "127.0.0.1.evil.example": false, "": false,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://x/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		w := &recorder{quiet: quiet{header: http.Header{}}}
		h.Config.Handler.ServeHTTP(w, req)
		if got := w.status != http.StatusForbidden; got != ok {
			t.Errorf("%q: %d", host, w.status)
		}
	}
}

// recorder keeps what is written.
type recorder struct {
	quiet
	body bytes.Buffer
}

func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }

func TestOtherSitesChangeNothing(t *testing.T) {
	h := open(t, httpapi.Options{})
	_, token := h.agent("writer")
	for name, headers := range map[string][]string{
		"an origin":            {"Origin: https://evil.example"},
		"a cross-site fetch":   {"Sec-Fetch-Site: cross-site"},
		"a sandboxed document": {"Origin: null"},
	} {
		if r := h.call(token, "POST /v1/presence", "", headers...); r.problem(t).Code != refusal.NotPermitted {
			t.Errorf("%s: %v", name, r)
		}
	}
	if r := h.call(token, "POST /v1/presence", "", "Origin: "+h.URL); r.status != http.StatusNoContent {
		t.Errorf("its own pages: %v", r)
	}
}

func TestABodyIsJSON(t *testing.T) {
	h := open(t, httpapi.Options{MaxBody: 1000})
	_, token := h.agent("writer")
	at := func(n int) string { return `{"intent":"` + strings.Repeat("x", n-13) + `"}` }
	for _, c := range []struct {
		name, media, body string
		status            int
	}{
		{"with a charset", "application/json; charset=utf-8", `{"intent":"x"}`, 201},
		{"a form", "application/x-www-form-urlencoded", `intent=x`, 400},
		{"plain text, as forms of other sites may send", "text/plain", `{"intent":"x"}`, 400},
		{"as long as may be", "application/json", at(1000), 201},
		{"one byte longer", "application/json", at(1001), 413},
	} {
		r := h.call(token, "POST /v1/tasks", c.body, "Content-Type: "+c.media)
		if r.status != c.status {
			t.Errorf("%s: %d %s", c.name, r.status, r.body)
		}
		if r.status >= 400 && r.problem(t).Hint == "" {
			t.Errorf("%s: %s", c.name, r.body)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.URL+"/v1/tasks", chunks{strings.NewReader(at(5000))})
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := h.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if res.Body.Close(); res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a body of unknown length: %d", res.StatusCode)
	}
}

// chunks hides a reader's length.
type chunks struct{ *strings.Reader }

func (c chunks) Len() {}

func TestTheSameKeyMakesTheSameCall(t *testing.T) {
	h := open(t, httpapi.Options{})
	_, token := h.agent("writer")
	const body, key = `{"intent":"once","start":true}`, "Idempotency-Key: 0190a6c1-0000-7000-8000-000000000001"
	var first, again client.Receipt
	r := h.call(token, "POST /v1/tasks", body, key)
	if err := json.Unmarshal([]byte(r.body), &first); err != nil || r.status != 201 || first.Repeat {
		t.Fatal(r)
	}
	r = h.call(token, "POST /v1/tasks", body, key)
	if err := json.Unmarshal([]byte(r.body), &again); err != nil || !again.Repeat || again.Task != first.Task || again.Position != first.Position {
		t.Fatal(r)
	}
	if p := h.call(token, "POST /v1/tasks", `{"intent":"something else"}`, key).problem(t); p.Code != refusal.Conflict || p.Hint == "" {
		t.Error(p)
	}
	if p := h.call(token, "POST /v1/tasks", body, "Idempotency-Key: "+strings.Repeat("k", 201)).problem(t); p.Code != refusal.Invalid {
		t.Error(p)
	}
}

func TestWhatIsNotServedSaysSo(t *testing.T) {
	h := open(t, httpapi.Options{})
	r := h.call(h.admin, "PATCH /v1/tasks", "")
	if r.status != http.StatusMethodNotAllowed || r.header.Get("Allow") != "GET, POST" || r.problem(t).Hint != "use GET or POST" {
		t.Error(r)
	}
	if p := h.call("", "GET /favicon.ico", "").problem(t); p.Code != refusal.NotFound {
		t.Error(p)
	}
	if r := h.call(h.admin, "OPTIONS /v1/tasks/import", ""); r.status != http.StatusMethodNotAllowed || r.header.Get("Allow") != "POST" {
		t.Errorf("a route beside one with an id: %d, %q", r.status, r.header.Get("Allow"))
	}
}

func TestAnswersSayTheirPosition(t *testing.T) {
	h := open(t, httpapi.Options{})
	_, token := h.agent("writer")
	r := h.call(token, "POST /v1/tasks", `{"intent":"x"}`)
	at := r.header.Get("Trapeze-Position")
	if !strings.Contains(r.body, `"position":`+at) {
		t.Fatal(r)
	}
	for _, read := range [][]string{{"GET /v1/tasks?after_position=" + at}, {"GET /v1/tasks", "Trapeze-Min-Position: " + at}} {
		if r := h.call(token, read[0], "", read[1:]...); r.status != 200 || !strings.Contains(r.body, `"intent":"x"`) || r.header.Get("Trapeze-Position") < at {
			t.Error(r)
		}
	}
}

// No answer is of position 0, which a client would take for the beginning of the record.
func TestAnAnswerWithoutAPositionHasNoHeaderForIt(t *testing.T) {
	h := open(t, httpapi.Options{})
	_, token := h.agent("writer")
	without := map[string]bool{}
	call := func(line, body string) {
		r := h.call(h.admin, line, body)
		if at := r.header.Get("Trapeze-Position"); at == "0" {
			t.Errorf("%s: %d, position 0", line, r.status)
		} else if at == "" && r.status < 300 {
			without[line] = true
		}
	}
	h.call(token, "POST /v1/tasks", `{"intent":"x"}`)
	for line := range operations(t, h) {
		if strings.HasPrefix(line, "GET ") && line != "GET /v1/events" {
			call(line, "")
		}
	}
	call("POST /v1/tokens", `{"role":"agent","name":"reader"}`)
	if !without["GET /v1/policy/versions"] || without["GET /v1/tasks"] || without["GET /v1/inbox"] {
		t.Errorf("without a position: %v", slices.Sorted(maps.Keys(without)))
	}
}

// A list is narrowed by when tasks last changed, and its counts are of all pages, of what the caller may see.
func TestAListOfTasksIsNarrowedByTimeAndCounted(t *testing.T) {
	h := open(t, httpapi.Options{})
	ann, _ := h.agent("ann")
	bob, _ := h.agent("bob")
	for n := range 5 {
		if _, err := ann.CreateTask(t.Context(), client.CreateInput{Intent: "paint", Start: n < 2}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := bob.CreateTask(t.Context(), client.CreateInput{Intent: "wash"}); err != nil {
		t.Fatal(err)
	}
	list := func(c *client.Client, f client.TaskFilter) client.TaskPage {
		t.Helper()
		page, err := c.Tasks(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		return page
	}
	all := list(h.as(h.admin), client.TaskFilter{}).Tasks
	// Ids of one millisecond are in no order.
	newest := slices.SortedFunc(slices.Values(all), func(a, b client.TaskRow) int { return b.Updated.Compare(a.Updated) })
	at := func(n int) time.Time { return newest[n].Updated }
	for name, c := range map[string]struct {
		as     *client.Client
		filter client.TaskFilter
		tasks  int
		counts map[client.State]int
	}{
		"all":           {h.as(h.admin), client.TaskFilter{}, 6, map[client.State]int{client.Pending: 4, client.Executing: 2}},
		"a page":        {h.as(h.admin), client.TaskFilter{Limit: 1}, 1, map[client.State]int{client.Pending: 4, client.Executing: 2}},
		"a later page":  {h.as(h.admin), client.TaskFilter{Limit: 2, After: all[4].ID}, 1, map[client.State]int{client.Pending: 4, client.Executing: 2}},
		"words":         {h.as(h.admin), client.TaskFilter{Text: "PAINT", Limit: 2}, 2, map[client.State]int{client.Pending: 3, client.Executing: 2}},
		"a state":       {h.as(h.admin), client.TaskFilter{State: client.Executing}, 2, map[client.State]int{client.Executing: 2}},
		"of bob":        {bob, client.TaskFilter{}, 1, map[client.State]int{client.Pending: 1}},
		"words of ann":  {bob, client.TaskFilter{Text: "paint"}, 0, nil},
		"since":         {h.as(h.admin), client.TaskFilter{Since: at(1)}, 2, map[client.State]int{client.Pending: 2}},
		"until":         {h.as(h.admin), client.TaskFilter{Until: at(4)}, 1, map[client.State]int{client.Executing: 1}},
		"between":       {h.as(h.admin), client.TaskFilter{Since: at(4), Until: at(1)}, 3, map[client.State]int{client.Pending: 2, client.Executing: 1}},
		"between, live": {ann, client.TaskFilter{Since: at(4), Live: true}, 4, map[client.State]int{client.Pending: 3, client.Executing: 1}},
	} {
		if page := list(c.as, c.filter); page.Counts != nil {
			t.Errorf("%s: counted without being asked: %v", name, page.Counts)
		}
		c.filter.Counts = true
		if page := list(c.as, c.filter); len(page.Tasks) != c.tasks || !maps.Equal(page.Counts, c.counts) {
			t.Errorf("%s: %d tasks, counted %v", name, len(page.Tasks), page.Counts)
		}
	}
	for _, query := range []string{"since=yesterday", "until=1", "since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z", "counts=perhaps"} {
		if r := h.call(h.admin, "GET /v1/tasks?"+query, ""); r.status != http.StatusBadRequest && r.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", query, r.status)
		}
	}
}

func TestListsComeInPages(t *testing.T) {
	h := open(t, httpapi.Options{})
	writer, _ := h.agent("writer")
	made := map[string]bool{}
	for range 5 {
		r, err := writer.CreateTask(t.Context(), client.CreateInput{Intent: "x"})
		if err != nil {
			t.Fatal(err)
		}
		made[r.Task] = true
	}
	f, pages := client.TaskFilter{Limit: 2}, 0
	for {
		p, err := writer.Tasks(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range p.Tasks {
			if !made[task.ID] {
				t.Errorf("%s came twice, or from nowhere", task.ID)
			}
			delete(made, task.ID)
		}
		if pages++; p.Next == "" {
			break
		}
		f.After = p.Next
	}
	if len(made) > 0 || pages != 3 {
		t.Errorf("%d pages, missing %v", pages, made)
	}
}

// Lists of tasks are in the order of ids. Those that the client makes are in the order of time, and one with a key of another kind is anywhere.
func TestAListOfTasksIsInTheOrderOfIDs(t *testing.T) {
	h := open(t, httpapi.Options{})
	ann, token := h.agent("ann")
	var made []string
	for range 5 {
		r, err := ann.CreateTask(t.Context(), client.CreateInput{Intent: "paint"})
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, r.Task)
	}
	if r := h.call(token, "POST /v1/tasks", `{"intent":"wash"}`, "Idempotency-Key: order-1"); r.status != http.StatusCreated {
		t.Fatal(r)
	}
	page, err := ann.Tasks(t.Context(), client.TaskFilter{})
	if err != nil {
		t.Fatal(err)
	}
	var all, painted []string
	for _, row := range page.Tasks {
		if all = append(all, row.ID); row.Intent == "paint" {
			painted = append(painted, row.ID)
		}
	}
	slices.Reverse(all)
	slices.Reverse(painted)
	if len(all) != 6 || !slices.IsSorted(all) || !slices.Equal(painted, made) {
		t.Errorf("made %v, and listed from the last to the first %v", made, all)
	}
}
