//go:build slow

package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// TestWhateverReadsWhatIsPutAwayIsRefusedWithTheNameOfItsSegment makes every GET of the description of the API, as an administrator and as the owner of the task, and
// wants none to fail as an error of the server.
func TestWhateverReadsWhatIsPutAwayIsRefusedWithTheNameOfItsSegment(t *testing.T) {
	t.Parallel()
	dir, _, task, made, _ := segmented(t)
	detach(t, dir)
	s := open(t, dir)
	name := filepath.Base(made.File)
	c := clientOf(t, s)
	bob, err := c.CreateToken(t.Context(), client.TokenInput{Role: client.RoleAgent, Name: "bob"})
	if err != nil {
		t.Fatal(err)
	}
	var description struct {
		Paths map[string]map[string]any
	}
	if err := json.Unmarshal([]byte(answerOf(t, s, "", "/openapi.json").body), &description); err != nil || len(description.Paths) < 40 {
		t.Fatalf("%d paths, %v", len(description.Paths), err)
	}
	refused := map[string]bool{}
	for path, methods := range description.Paths {
		if methods["get"] == nil || path == "/v1/artifacts/{digest}" {
			continue
		}
		for as, token := range map[string]string{"the administrator": token(t, s), "bob": bob.Text} {
			got := answerOf(t, s, token, filled(path, task, firstPutAway(t, s)))
			names := strings.Contains(got.body, "is put away in "+name) && strings.Contains(got.body, "copy that file to the directory segments")
			if got.status >= 500 || names != (got.status == http.StatusConflict) {
				t.Errorf("%s for %s: %d: %.300s", path, as, got.status, got.body)
			}
			refused[path] = refused[path] || names
		}
	}
	for _, path := range []string{
		"/v1/tasks/{id}", "/v1/tasks/{id}/trail", "/v1/tasks/{id}/content", "/v1/tasks/{id}/parts", "/v1/tasks/{id}/drift", "/v1/handoffs/{id}", "/v1/handoffs/{id}/content",
		"/v1/handoffs/{id}/document", "/v1/handoffs/{id}/parts", "/v1/handoffs/{id}/receipt", "/v1/proof/receipts/{position}", "/v1/audit/export", "/v1/events",
	} {
		if !refused[path] {
			t.Errorf("%s does not name the segment", path)
		}
	}
	r := newReader(t, s)
	r.get(r.link(token(t, s)), http.StatusOK)
	for _, path := range []string{"/", "/tasks", "/inbox", "/dead", "/agents/bob", "/figures", "/alerts", "/record", "/find?q=invoice", "/policy"} {
		r.get(path, http.StatusOK)
	}
	for _, path := range []string{"/tasks/" + task, "/tasks/" + task + "/hops/1", "/tasks/" + task + "/compare", "/tasks/" + task + "/record/jsonl"} {
		if got := r.do(http.MethodGet, path, ""); got.status >= 500 || !strings.Contains(got.body, name) {
			t.Errorf("%s: %d: %.600s", path, got.status, got.body)
		}
	}
}

func answerOf(t *testing.T, s *Server, token, path string) seen {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return seen{res.StatusCode, res.Header, string(b)}
}

// filled is a path of the API with the ids of a task that was put away.
func filled(path, task string, at ledger.Position) string {
	id := task
	switch {
	case strings.HasPrefix(path, "/v1/handoffs/"):
		id += ".h1"
	case strings.HasPrefix(path, "/v1/shares/"):
		id += ".s1"
	case strings.HasPrefix(path, "/v1/agents/"):
		id = "bob"
	case path == "/v1/events":
		path += "?after=0"
	}
	if strings.HasSuffix(path, "/parts") {
		path += "?part=all"
	}
	return strings.NewReplacer("{id}", id, "{position}", fmt.Sprint(at), "{level}", "0", "{index}", "0.p/1").Replace(path)
}

// firstPutAway is the position of the first entry that was put away.
func firstPutAway(t *testing.T, s *Server) ledger.Position {
	t.Helper()
	_, err := s.log.Read(t.Context(), 0, 1000)
	away, ok := ledger.AsPutAway(err)
	if !ok {
		t.Fatalf("nothing is put away: %v", err)
	}
	return away.Position
}

func TestAnExportAroundWhatIsPutAwayListsItAndTheEventsAfterItAreTold(t *testing.T) {
	t.Parallel()
	dir, _, task, made, _ := segmented(t)
	detach(t, dir)
	s := open(t, dir)
	c := clientOf(t, s)
	for _, o := range []client.ExportOptions{{SkipDamaged: true}, {SkipDamaged: true, Task: task}} {
		var b bytes.Buffer
		if err := c.Export(t.Context(), o, &b); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), "entry-put-away"); n != made.Entries || strings.Contains(b.String(), "entry-damaged") || !strings.Contains(b.String(), filepath.Base(made.File)) {
			t.Errorf("%+v lists %d of %d entries:\n%s", o, n, made.Entries, b.String())
		}
	}
	if got := answerOf(t, s, token(t, s), fmt.Sprintf("/v1/events?after=%d", made.Last-1)); got.status != http.StatusConflict || !strings.Contains(got.body, fmt.Sprintf("start after position %d", made.Last)) {
		t.Errorf("%d: %s", got.status, got.body)
	}
}

// locked is a buffer of several goroutines.
type locked struct {
	sync.Mutex
	bytes.Buffer
}

func (l *locked) Write(b []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.Buffer.Write(b)
}

func TestAServerWithoutASegmentSaysSoOnceAndCountsTheRest(t *testing.T) {
	t.Parallel()
	dir, _, _, made, _ := segmented(t)
	detach(t, dir)
	var told locked
	s, err := Open(t.Context(), Config{DataDir: dir, Addr: "127.0.0.1:0", Log: slog.New(slog.NewTextHandler(&told, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	last, err := s.log.Last(t.Context())
	if err == nil {
		err = s.monitor.Wait(t.Context(), last)
	}
	if err != nil || !s.monitor.Ready() {
		t.Errorf("the figures are not counted: %v", err)
	}
	list, err := s.views.Disagreeing(t.Context(), nil, 1000)
	if err != nil || len(list) > 0 {
		t.Errorf("the views are said to disagree: %v, %v", list, err)
	}
	stop(t, s)
	if text := told.String(); strings.Count(text, filepath.Base(made.File)) != 1 || strings.Contains(text, "level=ERROR") || strings.Contains(text, "level=WARN") {
		t.Errorf("the log says\n%s", text)
	}
}
