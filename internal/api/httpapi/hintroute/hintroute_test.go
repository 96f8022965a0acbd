package hintroute_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/api/httpapi/hintroute"
)

func TestTheRoutesOfAHint(t *testing.T) {
	const task = "task_01k8zq3v9m4w6x2c5n7b8d0f1g"
	for _, c := range []struct {
		hint, message string
		want          []string
	}{
		{"", "", nil},
		{"use another id", "", nil},
		{"start the server with: trapeze serve", "", nil},
		{"check your inbox", "", []string{"GET /v1/inbox"}},
		{"check the id; list tasks to see those you may see", "there is no task x", []string{"GET /v1/tasks"}},
		{"fetch the task to see its ticket", "ticket " + task + ".k1 is closed", []string{"GET /v1/tasks/" + task}},
		{"fetch the handoff and look at its stage", "handoff " + task + ".h2 is pending", []string{"GET /v1/handoffs/" + task + ".h2"}},
		{"an operator can replay it: trapeze dead replay " + task, "", []string{"POST /v1/dead/" + task + "/replay"}},
		{"list the holds: trapeze hold list", "", []string{"GET /v1/erasures"}},
		{"have ann or an operator raise the budget, in a shell: trapeze task budget " + task, "", []string{"POST /v1/tasks/" + task + "/budget"}},
		{"fetch the task to see its handoffs", "no task is named", []string{"GET /v1/tasks/{id}"}},
		{"wait until it is in your inbox; trapeze inbox shows it", "", []string{"GET /v1/inbox"}},
		{"hand it off (send), or start it, first", "task " + task + " is pending and nobody owns it", []string{"POST /v1/tasks/" + task + "/send", "POST /v1/tasks/" + task + "/start"}},
		{"trapeze cluster add says how", "", nil},
		{"wait for the children, or cancel them", "task " + task + " waits for 2 children", []string{"GET /v1/tasks/" + task}}, // not: cancel the parent
		{"discard it and create it again without that dependency", "", []string{"POST /v1/dead/{id}/discard", "POST /v1/tasks"}},
		{"read the newest version and revise that", "memory item mem_01k8zq3v9m4w6x2c5n7b8d0f1g is at version 3", []string{
			"GET /v1/memory/mem_01k8zq3v9m4w6x2c5n7b8d0f1g", "POST /v1/memory/mem_01k8zq3v9m4w6x2c5n7b8d0f1g/revise",
		}},
	} {
		if got := hintroute.Of(c.hint, c.message); !slices.Equal(got, c.want) {
			t.Errorf("%q, %q: %q, want %q", c.hint, c.message, got, c.want)
		}
	}
	if got := hintroute.Commands("trapeze dance, or trapeze inbox --wait"); len(got) != 2 || got["dance"] || !got["inbox"] {
		t.Errorf("the commands are %v", got)
	}
}

func TestEveryRouteOfAHintIsOneOfTheAPI(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var api struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(text, &api); err != nil || len(api.Paths) == 0 {
		t.Fatalf("%d paths, %v", len(api.Paths), err)
	}
	for _, route := range hintroute.Routes() {
		method, path, _ := strings.Cut(route, " ")
		if api.Paths[path][strings.ToLower(method)] == nil {
			t.Errorf("the API has no route %s", route)
		}
	}
}
