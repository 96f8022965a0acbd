//go:build slow

package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
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
