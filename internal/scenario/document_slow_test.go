//go:build slow || outside

package scenario

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// sheetOfHandoff is the document of a handoff as HTTP gives it.
type sheetOfHandoff struct {
	ID, Task, From, Reason, Kind, Envelope, Priority string

	To           []string
	Stage        event.Stage
	Timeout      int `json:"timeout_seconds"`
	Dependencies []string
	Candidates   []json.RawMessage
	Context      json.RawMessage `json:"task_context"`
	Requested    time.Time
	Ended        time.Time
	Entries      []struct{ Event, Agent string } `json:"audit_entries"`
}

// stageCase is a handoff that comes to a stage.
type stageCase struct {
	stage event.Stage
	send  string // beside the receiver
	to    string // worker, if empty
	then  func(handoff string)
	last  string // the newest event of the trail
}

// The document of a handoff has its parts, its receiver and its trail at every stage that a handoff can have.
func TestTheDocumentOfAHandoffIsWholeAtEveryStage(t *testing.T) {
	inTown(t, func(w *town) {
		accept := func(handoff string) { w.must("worker", "POST /v1/handoffs/"+handoff+"/accept", `{}`, nil) }
		cases := []stageCase{
			{stage: event.Offered, last: "handoff-offered"},
			{stage: event.Requested, send: `,"timeouts":{"ack":"5s"}`, then: func(string) { w.looks("worker"); time.Sleep(5*time.Second + 100*time.Millisecond) }, last: "retry-scheduled"},
			{stage: event.AwaitingApproval, send: `,"kind":"supervised"`, last: "approval-asked"},
			{stage: event.Accepted, send: `,"confirm":"explicit"`, then: accept, last: "handoff-acknowledgment"},
			{stage: event.Transferred, then: accept, last: "handoff-complete"},
			{stage: event.Rejected, then: func(handoff string) {
				w.must("worker", "POST /v1/handoffs/"+handoff+"/reject", `{"reason":"refused"}`, nil)
			}, last: "handoff-returned"},
			{stage: event.Expired, send: `,"kind":"supervised","timeouts":{"approval":"1m"}`, then: func(string) { time.Sleep(2 * time.Minute) }, last: "handoff-returned"},
			{stage: event.Expired, send: `,"confirm":"explicit"`, then: func(handoff string) { accept(handoff); time.Sleep(2 * time.Minute) }, last: "handoff-returned"},
			{stage: event.Undeliverable, send: `,"return_home":true,"retries":0`, then: func(string) { time.Sleep(time.Hour) }, last: "handoff-returned"},
			{stage: event.DeadLettered, send: `,"retries":0`, then: func(string) { time.Sleep(time.Hour) }, last: "task-parked"},
			{stage: event.Withdrawn, then: func(handoff string) { w.must("planner", "POST /v1/handoffs/"+handoff+"/withdraw", `{"epoch":1}`, nil) }, last: "handoff-returned"},
			{stage: event.AtDesk, to: "human:operators", last: "ticket-opened"},
		}
		for _, stage := range event.Stages.Values() {
			if !slices.ContainsFunc(cases, func(c stageCase) bool { return c.stage == stage }) {
				w.Errorf("no handoff here is %s", stage)
			}
		}
		for _, c := range cases {
			if c.to == "" {
				c.to = "worker"
			}
			var own, sent townTask
			w.must("planner", "POST /v1/tasks", `{"intent":"write it","start":true,"priority":"high"}`, &own)
			w.must("planner", "POST /v1/tasks/"+own.Task+"/send", fmt.Sprintf(`{"epoch":1,"to":[%q],"content":{"data":{"chapters":3}}%s}`, c.to, c.send), &sent)
			if c.then != nil {
				c.then(sent.Handoff)
			}
			var d sheetOfHandoff
			if status, text := w.call("planner", "GET /v1/handoffs/"+own.Task+".h1/document", "", &d); status != http.StatusOK {
				w.Fatalf("%s: %d %s", c.stage, status, text)
			}
			if d.Stage != c.stage || !slices.Equal(d.To, []string{c.to}) || len(d.Entries) == 0 || d.Entries[len(d.Entries)-1].Event != c.last {
				w.Errorf("%s: it is %s to %q, with the trail %+v", c.stage, d.Stage, d.To, d.Entries)
			}
			if d.ID != own.Task+".h1" || d.Task != own.Task || d.From != "planner" || d.Reason == "" || d.Kind == "" || d.Envelope == "" || d.Priority != "high" || d.Timeout == 0 ||
				d.Dependencies == nil || len(d.Candidates) == 0 || len(d.Context) == 0 || d.Requested.IsZero() || d.Ended.IsZero() == c.stage.Final() {
				w.Errorf("%s: a part is missing in %+v", c.stage, d)
			}
			w.must("planner", "POST /v1/tasks/"+own.Task+"/cancel", `{}`, nil) // it makes room
		}
	}, "planner", "worker")
}
