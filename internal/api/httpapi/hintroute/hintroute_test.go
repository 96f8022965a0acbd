package hintroute

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/help"
)

func TestTheRoutesOfAHint(t *testing.T) {
	const task = "task_01k8zq3v9m4w6x2c5n7b8d0f1g"
	for _, c := range []struct {
		hint, about string
		want        []string
	}{
		{"", "", nil},
		{"use another id", "", nil},
		{"[name an agent](.to)", "", nil},
		{"start the server with [this flag](serve .host)", "", nil},
		{"[check your inbox](inbox)", task, []string{"GET /v1/inbox"}},
		{"[fetch the task](task show) to see its ticket", task + ".k1", []string{"GET /v1/tasks/" + task}},
		{"[fetch the handoff](handoff show)", task + ".h2", []string{"GET /v1/handoffs/" + task + ".h2"}},
		{"[fetch the handoff](handoff show)", task, []string{"GET /v1/handoffs/{id}"}},
		{"[read the newest version](memory get) and [revise that](memory revise)", "mem_01k8zq3v9m4w6x2c5n7b8d0f1g", []string{
			"GET /v1/memory/mem_01k8zq3v9m4w6x2c5n7b8d0f1g", "POST /v1/memory/mem_01k8zq3v9m4w6x2c5n7b8d0f1g/revise",
		}},
		{help.To("restore it", "workspace restore", "a/b c"), "", []string{"POST /v1/workspaces/a%2Fb%20c/restore"}},
	} {
		_, helps := help.Parse(c.hint, c.about)
		if got := Of(helps); !slices.Equal(got, c.want) {
			t.Errorf("%q, %q: %q, want %q", c.hint, c.about, got, c.want)
		}
	}
}

func TestEveryCallHasItsRoutesOfTheAPI(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var api struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(text, &api); err != nil || len(api.Paths) == 0 {
		t.Fatalf("%d paths, %v", len(api.Paths), err)
	}
	for _, call := range help.Calls() {
		list, ok := routes[call]
		if !ok {
			t.Errorf("%s has no routes", call)
		}
		for _, route := range list {
			method, path, _ := strings.Cut(route, " ")
			if call != help.Describe && api.Paths[path][strings.ToLower(method)] == nil {
				t.Errorf("the API has no route %s", route)
			}
			if strings.Contains(path, "{id}") && !call.Takes() {
				t.Errorf("%s needs an id, and %s takes none", route, call)
			}
		}
	}
	if len(routes) != len(help.Calls()) {
		t.Errorf("routes of %d calls, and there are %d", len(routes), len(help.Calls()))
	}
}
