package scenario

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
)

// box is an inbox as HTTP shows it.
type (
	box  struct{ Items []item }
	item struct {
		ID, Type, Task, From, Detail string
		Offer                        int
	}
)

// looks reads the inbox of an agent, which counts as seen, and returns what it has, as types and ids of tasks.
func (w *town) looks(name string) (got []string) {
	w.Helper()
	var b box
	w.must(name, "GET /v1/inbox?see=true", "", &b)
	for _, i := range b.Items {
		got = append(got, i.Type+" "+i.Task)
	}
	return got
}

func TestAnOfferOverHTTPThatIsNotAnsweredIsRetriedAndThenGoesToTheFallback(t *testing.T) {
	inTown(t, func(w *town) {
		w.must("", "PUT /v1/agents/worker", `{"fallbacks":["backup"]}`, nil)
		r, status, text := w.offers("planner", "worker", `,"retries":1,"timeouts":{"ack":"5s"}`)
		if status >= 300 {
			w.Fatalf("%d %s", status, text)
		}
		for try := 1; try <= 2; try++ {
			var b box
			w.must("worker", "GET /v1/inbox?see=true", "", &b)
			if len(b.Items) != 1 || b.Items[0].Offer != try {
				w.Fatalf("try %d: %+v", try, b)
			}
			time.Sleep(time.Minute)
		}
		if got := w.looks("worker"); len(got) != 0 {
			w.Errorf("after its last try: %q", got)
		}
		if got := w.looks("backup"); !slices.Equal(got, []string{"offer " + r.Task}) {
			w.Errorf("the fallback has %q", got)
		}
	}, "planner", "worker", "backup")
}

func TestAnAgentIsRegisteredOverHTTPAndItsReadinessIsKept(t *testing.T) {
	inTown(t, func(w *town) {
		w.must("", "PUT /v1/agents/worker", `{"description":"writes","capabilities":["go","sql"],"max_tasks":2,"presence_ttl":"1m"}`, nil)
		type shown struct {
			Spec struct {
				Description  string
				Capabilities []string
				MaxTasks     int `json:"max_tasks"`
			}
			Readiness agent.Readiness
		}
		is := func(want agent.Readiness) {
			w.Helper()
			var a shown
			w.must("planner", "GET /v1/agents/worker", "", &a)
			if a.Readiness != want || a.Spec.Description != "writes" || !slices.Equal(a.Spec.Capabilities, []string{"go", "sql"}) || a.Spec.MaxTasks != 2 {
				w.Errorf("it is %+v, want %s", a, want)
			}
		}
		w.must("worker", "PUT /v1/agents/worker/readiness", `{"readiness":"ready"}`, nil)
		is(agent.Ready)
		w.must("worker", "PUT /v1/agents/worker/readiness", `{"readiness":"busy"}`, nil)
		is(agent.Busy)
		w.must("worker", "PUT /v1/agents/worker/readiness", `{"readiness":"ready"}`, nil)
		time.Sleep(2 * time.Minute) // it is not heard of
		is(agent.Offline)
		w.looks("worker")
		is(agent.Ready)
	}, "planner", "worker")
}

func TestAReceiverIsCheckedOverHTTPBeforeATaskIsSent(t *testing.T) {
	inTown(t, func(w *town) {
		refused := func(to, says string) {
			w.Helper()
			if _, status, text := w.offers("planner", to, ""); status < 400 || !strings.Contains(text, says) {
				w.Errorf("to %s: %d %s", to, status, text)
			}
		}
		refused("nobody", "nobody")
		w.must("", "PUT /v1/agents/worker/readiness", `{"readiness":"draining"}`, nil)
		refused("worker", "draining")
		w.must("", "PUT /v1/agents/worker/readiness", `{"readiness":"ready"}`, nil)
		w.must("", "PUT /v1/agents/worker", `{"fallbacks":["backup"]}`, nil)
		w.must("", "PUT /v1/agents/worker/readiness", `{"readiness":"draining"}`, nil)
		if r, status, text := w.offers("planner", "worker", ""); status >= 300 || !slices.Equal(w.looks("backup"), []string{"offer " + r.Task}) {
			w.Errorf("with a fallback: %d %s", status, text)
		}
	}, "planner", "worker", "backup")
}

func TestNothingOfAWorkspaceIsSeenFromAnotherOverHTTP(t *testing.T) {
	inTown(t, func(w *town) {
		r, _, _ := w.offers("planner", "worker", "")
		var made struct{ Token struct{ Token string } }
		w.must("", "POST /v1/workspaces", `{"name":"other","bearer":"lea"}`, &made)
		w.tokens["lea"] = made.Token.Token
		if status, text := w.call("lea", "GET /v1/tasks/"+r.Task, "", nil); status != http.StatusNotFound {
			w.Errorf("the task: %d %s", status, text)
		}
		for _, path := range []string{"/v1/tasks", "/v1/agents", "/v1/inbox?agent=worker"} {
			if status, text := w.call("lea", "GET "+path, "", nil); status >= 500 || strings.Contains(text, r.Task) || strings.Contains(text, `"planner"`) {
				w.Errorf("%s: %d %s", path, status, text)
			}
		}
	}, "planner", "worker")
}
