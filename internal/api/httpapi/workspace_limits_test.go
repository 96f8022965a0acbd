package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// TestALimitOfAWorkspaceHoldsForCallsThatAreMadeAtOnce has many callers create what a limit bounds at the same time.
func TestALimitOfAWorkspaceHoldsForCallsThatAreMadeAtOnce(t *testing.T) {
	h := open(t, httpapi.Options{})
	made, err := admin.New(h.as(h.admin)).CreateWorkspace(t.Context(), admin.WorkspaceInput{Name: "red", Limits: admin.Limits{OpenTasks: 4, Agents: 3}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		line, body string
		most       int
	}{
		{"PUT /v1/agents/agent%d", `{}`, 3},
		{"POST /v1/tasks", `{"intent":"task %d"}`, 4},
	} {
		const calls = 24
		var wg sync.WaitGroup
		statuses := make([]int, calls)
		begin := make(chan struct{})
		for i := range calls {
			line, body := c.line, c.body
			if strings.Contains(line, "%d") {
				line = fmt.Sprintf(line, i)
			} else {
				body = fmt.Sprintf(body, i)
			}
			wg.Go(func() {
				<-begin
				statuses[i] = h.call(made.Token.Text, line, body).status
			})
		}
		close(begin)
		wg.Wait()
		done := 0
		for _, s := range statuses {
			switch s {
			case http.StatusOK, http.StatusCreated:
				done++
			case http.StatusConflict:
			default:
				t.Errorf("%s: %d", c.line, s)
			}
		}
		if done == 0 || done > c.most {
			t.Errorf("%s: %d of %d calls made one, and the limit is %d", c.line, done, calls, c.most)
		}
	}
}

// TestATokenIsRevokedByAnIDThatCanBeOne answers with a refusal, not with a fault of the server.
func TestATokenIsRevokedByAnIDThatCanBeOne(t *testing.T) {
	h := open(t, httpapi.Options{})
	for _, id := range []string{"a%2Fb", "a%00b", "..%2fx", "%ff", "%20", "x", strings.Repeat("a", 300), "%E2%80%AEx"} {
		if r := h.call(h.admin, "DELETE /v1/tokens/"+id, ""); r.status != http.StatusBadRequest || r.problem(t).Code != refusal.Invalid {
			t.Errorf("%s: %d %s", id, r.status, r.body)
		}
	}
}

// TestAListOfWorkspacesSaysWhatEachUsesIfItIsAsked saves a call for each of them.
func TestAListOfWorkspacesSaysWhatEachUsesIfItIsAsked(t *testing.T) {
	h := open(t, httpapi.Options{})
	of := admin.New(h.as(h.admin))
	made, err := of.CreateWorkspace(t.Context(), admin.WorkspaceInput{Name: "red"})
	if err != nil {
		t.Fatal(err)
	}
	h.call(made.Token.Text, "POST /v1/tasks", `{"intent":"a task"}`)
	for _, used := range []bool{false, true} {
		page, err := of.Workspaces(t.Context(), admin.WorkspaceOptions{Used: used})
		if err != nil || len(page.Workspaces) != 2 {
			t.Fatalf("%+v, %v", page, err)
		}
		for _, w := range page.Workspaces {
			open := map[string]int64{"red": 1}[w.Name]
			if (w.Used != nil) != used || used && w.Used.OpenTasks != open {
				t.Errorf("asked %t: %s uses %+v", used, w.Name, w.Used)
			}
		}
	}
}
