package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

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
