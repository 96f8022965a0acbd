//go:build slow || outside

package scenario

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestACancelOverHTTPReachesTheOwnerAndTheChildren(t *testing.T) {
	inTown(t, func(w *town) {
		r, _, _ := w.offers("planner", "worker", "")
		var held, child townTask
		w.must("worker", "POST /v1/handoffs/"+r.Handoff+"/accept", `{}`, &held)
		w.must("worker", "POST /v1/tasks/"+r.Task+"/send", `{"epoch":1,"to":["helper"],"kind":"delegation"}`, nil)
		time.Sleep(time.Second) // of the test: the server offers the child after the answer
		var b box
		w.must("helper", "GET /v1/inbox?see=true", "", &b)
		if len(b.Items) != 1 {
			w.Fatalf("the child is not offered: %+v", b)
		}
		w.must("helper", "POST /v1/handoffs/"+b.Items[0].ID+"/accept", `{}`, &child)
		w.must("planner", "POST /v1/tasks/"+r.Task+"/cancel", `{"detail":"no longer needed"}`, nil)
		time.Sleep(time.Second) // of the test: the server tells the children after the answer
		for name, task := range map[string]string{"worker": r.Task, "helper": b.Items[0].Task} {
			if got := w.looks(name); !slices.Equal(got, []string{"cancelled " + task}) {
				w.Errorf("%s is told %q", name, got)
			}
			if status, text := w.call(name, "POST /v1/tasks/"+task+"/progress", `{"epoch":1,"note":"still at it"}`, nil); status != http.StatusConflict || !strings.Contains(text, "cancelled") {
				w.Errorf("%s goes on: %d %s", name, status, text)
			}
		}
		if got := w.looks("worker"); len(got) != 0 {
			w.Errorf("worker is told again: %q", got)
		}
	}, "planner", "worker", "helper")
}

// An agent that is heard of by a wait for its inbox or by a heartbeat has a presence without asking for it; a way to be reached that does not deliver is refused.
func TestAnAgentThatConnectsOverHTTPHasAPresenceAndIsReachedByPull(t *testing.T) {
	inTown(t, func(w *town) {
		readiness := func(name string) agent.Readiness {
			w.Helper()
			var a struct{ Readiness agent.Readiness }
			w.must("planner", "GET /v1/agents/"+name, "", &a)
			return a.Readiness
		}
		w.must("", "PUT /v1/agents/worker", `{"context_window":8000,"tokenizer":"cl100k_base","fallbacks":["helper"],"escalation":["planner"],"reach":[{"kind":"pull"}]}`, nil)
		var a struct {
			Spec struct {
				ContextWindow         int `json:"context_window"`
				Tokenizer             string
				Fallbacks, Escalation []string
				Reach                 []struct{ Kind string }
			}
		}
		w.must("planner", "GET /v1/agents/worker", "", &a)
		if s := a.Spec; s.ContextWindow != 8000 || s.Tokenizer != "cl100k_base" || !slices.Equal(s.Fallbacks, []string{"helper"}) || !slices.Equal(s.Escalation, []string{"planner"}) || len(s.Reach) != 1 || s.Reach[0].Kind != "pull" {
			w.Errorf("it is registered as %+v", s)
		}
		for _, kind := range []string{"webhook", "a2a"} {
			if status, text := w.call("", "PUT /v1/agents/worker", fmt.Sprintf(`{"reach":[{"kind":%q,"url":"https://worker.example"}]}`, kind), nil); status < 400 || !strings.Contains(text, "not delivered") {
				w.Errorf("by %s: %d %s", kind, status, text)
			}
		}
		w.must("worker", "GET /v1/inbox?wait=1s", "", nil)
		w.must("helper", "POST /v1/presence", `{}`, nil)
		for _, name := range []string{"worker", "helper", "planner"} {
			if got := readiness(name); got != agent.Ready {
				w.Errorf("%s is %s", name, got)
			}
		}
		time.Sleep(6 * time.Minute)
		for name, want := range map[string]agent.Readiness{"worker": agent.Offline, "helper": agent.Offline, "planner": agent.Ready} { // planner only calls
			if got := readiness(name); got != want {
				w.Errorf("after 6 minutes %s is %s, want %s", name, got, want)
			}
		}
	}, "planner", "worker", "helper")
}

// TestAnAgentAnswersTheOffersOfOneLookOneAfterTheOther has an agent that thinks for 12 s about each of five offers, which is longer for all of them than
// the acknowledgment clock of one runs.
func TestAnAgentAnswersTheOffersOfOneLookOneAfterTheOther(t *testing.T) {
	for name, again := range map[string]bool{"it looks once": false, "it looks again before each": true} {
		t.Run(name, func(t *testing.T) {
			inTown(t, func(w *town) {
				for range 5 {
					w.offers("planner", "worker", "")
				}
				var b box
				w.must("worker", "GET /v1/inbox?see=true", "", &b)
				for i := range 5 {
					if again {
						b = box{}
						w.must("worker", "GET /v1/inbox?see=true", "", &b)
						b.Items = slices.Insert(b.Items, 0, make([]item, i)...) // those that it has answered
					}
					time.Sleep(12 * time.Second)
					w.must("worker", "POST /v1/handoffs/"+b.Items[i].ID+"/accept", `{}`, nil)
				}
				var a struct{ Circuit struct{ Failures int } }
				w.must("planner", "GET /v1/agents/worker", "", &a)
				if a.Circuit.Failures != 0 {
					t.Errorf("its circuit counts %d failures", a.Circuit.Failures)
				}
			}, "planner", "worker")
		})
	}
}

// A circuit opens after three failed handoffs in a row, refuses at once and says until when, is gone around where there is a way, and closes with the probe that succeeds.
func TestACircuitOverHTTPOpensRefusesIsGoneAroundAndCloses(t *testing.T) {
	inTown(t, func(w *town) {
		for _, from := range []string{"first", "second", "first"} {
			w.offers(from, "worker", `,"retries":0,"timeouts":{"ack":"5s"}`)
			w.ignores("worker")
		}
		var a struct {
			Circuit struct {
				State   agent.Phase
				ResetAt time.Time `json:"reset_at"`
			}
		}
		w.must("", "GET /v1/agents/worker", "", &a)
		if left := time.Until(a.Circuit.ResetAt); a.Circuit.State != agent.Open || left <= 0 || left > time.Minute {
			w.Fatalf("after three failures: %+v", a)
		}
		status, text := w.call("planner", "POST /v1/tasks", `{"intent":"x","send":{"to":["worker"]}}`, nil)
		if status != http.StatusServiceUnavailable || !strings.Contains(text, string(refusal.CircuitOpen)) || !strings.Contains(text, a.Circuit.ResetAt.UTC().Format(time.RFC3339)) {
			w.Errorf("it is refused with %d %s; the circuit resets at %s", status, text, a.Circuit.ResetAt)
		}
		var around struct{ To []string }
		w.must("planner", "POST /v1/tasks", `{"intent":"x","send":{"to":["worker","backup"]}}`, &around)
		if !slices.Equal(around.To, []string{"backup"}) {
			w.Errorf("with an alternative it goes to %q", around.To)
		}
		time.Sleep(time.Until(a.Circuit.ResetAt) + time.Second)
		probe, status, text := w.offers("planner", "worker", "")
		if status >= 300 {
			w.Fatalf("the probe: %d %s", status, text)
		}
		if _, _, text := w.offers("other", "worker", ""); !strings.Contains(text, string(refusal.CircuitOpen)) {
			w.Errorf("beside the probe: %s", text)
		}
		w.must("worker", "POST /v1/handoffs/"+probe.Handoff+"/accept", `{}`, nil)
		time.Sleep(time.Second)
		if w.agentCircuits("worker").Circuit.State != agent.HalfOpen { // on trial
			w.Errorf("after the probe: %+v", w.agentCircuits("worker"))
		}
		if _, status, text := w.offers("other", "worker", ""); status >= 300 {
			w.Errorf("once it is on trial: %d %s", status, text)
		}
	}, "planner", "other", "first", "second", "worker", "backup")
}
