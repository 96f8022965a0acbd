//go:build slow

package httpapi_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/record/access"
)

// parts are the fields that every document of a handoff has.
var parts = []string{
	"id", "task", "from", "to", "reason", "detail", "kind", "stage", "receiver", "envelope", "task_context", "audit_entries", "timeout_seconds", "priority", "permissions",
	"dependencies", "candidates", "requested", "ended",
}

func TestTheDocumentOfAHandoffHasAllItsPartsAlsoWhenItIsPast(t *testing.T) {
	h := open(t, httpapi.Options{})
	planner, _ := h.agent("planner")
	writer, writerToken := h.agent("writer")
	editor, _ := h.agent("editor")
	ctx := t.Context()
	before, err := planner.CreateTask(ctx, client.CreateInput{Intent: "plan it", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := planner.Complete(ctx, before.Task, client.CompleteInput{Epoch: before.Epoch, Result: client.Result{Text: "planned"}}); err != nil {
		t.Fatal(err)
	}
	sent, err := planner.CreateTask(ctx, client.CreateInput{
		Intent: "write the report", Priority: "high", Permissions: []string{"repo:read", "repo:write"}, Dependencies: []string{before.Task},
		Send: &client.SendInput{To: []string{"writer"}, Detail: "you write best", Permissions: []string{"repo:read"}, Content: client.Content{Data: []byte(`{"chapters":3}`)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := writer.Accept(ctx, sent.Handoff, client.AcceptInput{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Send(ctx, sent.Task, client.SendInput{Epoch: got.Epoch, To: []string{"editor"}, Detail: "read it"}); err != nil {
		t.Fatal(err)
	}
	if _, err := editor.Accept(ctx, sent.Task+".h2", client.AcceptInput{}); err != nil {
		t.Fatal(err)
	}

	var doc map[string]any
	r := h.call(writerToken, "GET /v1/handoffs/"+sent.Handoff+"/document", "")
	if err := json.Unmarshal([]byte(r.body), &doc); err != nil || r.status != 200 {
		t.Fatalf("%d %s: %v", r.status, r.body, err)
	}
	for _, name := range parts {
		if v, ok := doc[name]; !ok || v == nil || v == "" {
			t.Errorf("the document of a past handoff has no %s: %s", name, r.body)
		}
	}
	first, err := planner.HandoffDocument(ctx, sent.Handoff)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range first.Entries {
		names = append(names, e.Event)
	}
	want := []string{"handoff-request", "handoff-offered", "handoff-acknowledgment", "handoff-confirm", "handoff-complete"}
	if !slices.Equal(names, want) || first.Receiver != "writer" || first.Stage != client.StageTransferred || first.Timeout != 15 || first.Priority != "high" ||
		!slices.Equal(first.Permissions, []string{"repo:read"}) || !slices.Equal(first.Dependencies, []string{before.Task}) || !strings.Contains(string(first.Context), `"chapters":3`) {
		t.Errorf("the first handoff is %+v", first)
	}
	second, err := planner.HandoffDocument(ctx, sent.Task+".h2")
	if err != nil || second.Receiver != "editor" || second.Detail != "read it" || second.ID != sent.Task+".h2" || len(second.Entries) != len(want) {
		t.Errorf("the second is %+v, %v", second, err)
	}
	past, err := editor.Handoff(ctx, sent.Handoff)
	if err != nil || past.Kind != client.Warm || past.Detail == "" || past.Ended.IsZero() {
		t.Errorf("a past handoff is shown as %+v, %v", past, err)
	}
	for _, id := range []string{sent.Task + ".h3", "task_00000000000000000000000000.h1"} {
		if _, err := planner.HandoffDocument(ctx, id); !errors.Is(err, client.NotFound) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if trail := h.reads("planner"); !strings.Contains(trail, "handoff "+sent.Handoff) {
		t.Errorf("the read is not recorded: %s", trail)
	}
}

// The receiver is named at every stage, also where nobody has an offer now.
func TestTheDocumentOfAHandoffNamesItsReceiverAtEveryStage(t *testing.T) {
	h := open(t, httpapi.Options{})
	planner, _ := h.agent("planner")
	writer, _ := h.agent("writer")
	editor, _ := h.agent("editor")
	operator := h.as(h.admin)
	refuse := func(agent *client.Client, id string) error {
		_, err := agent.Reject(t.Context(), id, client.RejectInput{Reason: client.Refused, Detail: "no"})
		return err
	}
	for name, test := range map[string]struct {
		send  client.SendInput
		then  func(id string) error
		stage client.Stage
		to    []string
	}{
		"offered":  {send: client.SendInput{To: []string{"writer"}}, stage: client.StageOffered, to: []string{"writer"}},
		"returned": {client.SendInput{To: []string{"writer"}, ReturnHome: true}, func(id string) error { return refuse(writer, id) }, client.StageRejected, []string{"writer"}},
		"withdrawn": {client.SendInput{To: []string{"writer"}}, func(id string) error {
			_, err := planner.Withdraw(t.Context(), id, client.CancelInput{Epoch: 1})
			return err
		}, client.StageCancelled, []string{"writer"}},
		"awaiting":  {send: client.SendInput{To: []string{"writer"}, Kind: client.Supervised}, stage: client.StageAwaitingApproval, to: []string{"writer"}},
		"denied":    {client.SendInput{To: []string{"writer"}, Kind: client.Supervised}, func(id string) error { _, err := operator.Deny(t.Context(), id, client.DenyInput{}); return err }, client.StageRejected, []string{"writer"}},
		"untaken":   {send: client.SendInput{To: []string{"writer", "editor"}, Kind: client.Broadcast}, stage: client.StageOffered, to: []string{"writer", "editor"}},
		"claimless": {client.SendInput{To: []string{"writer", "editor"}, Kind: client.Broadcast}, func(id string) error { return errors.Join(refuse(writer, id), refuse(editor, id)) }, client.StageRejected, []string{"writer", "editor"}},
		"fallback":  {client.SendInput{To: []string{"writer", "editor"}}, func(id string) error { return refuse(writer, id) }, client.StageOffered, []string{"editor"}},
		"people":    {send: client.SendInput{To: []string{"human:operators"}}, stage: client.StageAtDesk, to: []string{"human:operators"}},
	} {
		t.Run(name, func(t *testing.T) {
			own, err := planner.CreateTask(t.Context(), client.CreateInput{Intent: "write it", Start: true})
			if err != nil {
				t.Fatal(err)
			}
			test.send.Epoch = own.Epoch
			sent, err := planner.Send(t.Context(), own.Task, test.send)
			if err == nil && test.then != nil {
				err = test.then(sent.Handoff)
			}
			if err != nil {
				t.Fatal(err)
			}
			doc, err := operator.HandoffDocument(t.Context(), own.Task+".h1")
			if err != nil || doc.Stage != test.stage || !slices.Equal(doc.To, test.to) {
				t.Errorf("the document: %q to %q, %v", doc.Stage, doc.To, err)
			}
			trail, err := operator.Trail(t.Context(), own.Task)
			if err != nil || len(trail.Handoffs) != 1 || trail.Handoffs[0].To != strings.Join(test.to, ", ") {
				t.Errorf("the audit document: %+v, %v", trail.Handoffs, err)
			}
		})
	}
}

func TestADelegationHasAnAuditDocumentOnTheParent(t *testing.T) {
	h := open(t, httpapi.Options{})
	planner, _ := h.agent("planner")
	h.agent("writer")
	ctx := t.Context()
	own, err := planner.CreateTask(ctx, client.CreateInput{Intent: "write the book", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	parts, err := planner.Send(ctx, own.Task, client.SendInput{Epoch: own.Epoch, To: []string{"writer"}, Kind: client.Delegation, Content: client.Content{Ask: "write chapter 1"}})
	if err != nil || len(parts.Children) != 1 {
		t.Fatalf("%+v, %v", parts, err)
	}
	child := parts.Children[0]
	trail, err := planner.Trail(ctx, own.Task)
	if err != nil || len(trail.Handoffs) != 1 {
		t.Fatalf("%+v, %v", trail.Handoffs, err)
	}
	if d := trail.Handoffs[0]; d.HandoffID != child+".h1" || d.Task != child || d.From != "planner" || d.To != "writer" || d.Reason != client.ReasonUserRequest || d.Status != client.StageRequested ||
		len(d.Entries) != 1 || d.Entries[0].Event != "children-spawned" {
		t.Errorf("the delegation: %+v", d)
	}
}

func TestAListThatShowsWhatTasksAreAboutIsRecordedAsOneRead(t *testing.T) {
	h := open(t, httpapi.Options{})
	planner, token := h.agent("planner")
	_, idle := h.agent("idle")
	ctx := t.Context()
	var ids []string
	for range access.MaxListed + 1 {
		r, err := planner.CreateTask(ctx, client.CreateInput{Intent: "write a chapter", Start: true})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.Task)
	}
	if _, err := planner.Ask(ctx, ids[0], client.AskInput{Epoch: 1, Question: "which style?"}); err != nil {
		t.Fatal(err)
	}
	for _, route := range []string{"GET /v1/tasks?limit=2", "GET /v1/tasks?limit=500", "GET /v1/tickets", "GET /v1/inbox", "GET /v1/dead"} {
		if r := h.call(token, route, ""); r.status != 200 {
			t.Errorf("%s: %d %s", route, r.status, r.body)
		}
	}
	h.call(idle, "GET /v1/tasks", "") // there is nothing in it
	lines := strings.Split(strings.TrimSpace(h.reads("planner")), "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], ids[len(ids)-1]) || !strings.Contains(lines[1], `"count":101`) || !strings.Contains(lines[2], ids[0]+".k1") {
		t.Errorf("the reads of planner: %s", strings.Join(lines, "\n"))
	}
	if reads := h.reads("idle"); reads != "" {
		t.Errorf("the reads of idle: %s", reads)
	}
}

// An agent's look at its own inbox is recorded, and that of an operator into it; where the agent sees an offer for the first time, that is the record.
func TestALookAtOnesOwnInboxIsRecorded(t *testing.T) {
	h := open(t, httpapi.Options{})
	planner, _ := h.agent("planner")
	_, token := h.agent("writer")
	if _, err := h.as(h.admin).RegisterAgent(t.Context(), "writer", client.AgentSpec{MaxTasks: 9}); err != nil { // it sees more than one offer at a time
		t.Fatal(err)
	}
	_, idle := h.agent("idle")
	offer := func() string {
		r, err := planner.CreateTask(t.Context(), client.CreateInput{Intent: "write a chapter", Send: &client.SendInput{To: []string{"writer"}}})
		if err != nil {
			t.Fatal(err)
		}
		return r.Handoff
	}
	look := func(token, query string, want ...string) {
		t.Helper()
		if r := h.call(token, "GET /v1/inbox"+query, ""); r.status != 200 {
			t.Fatalf("%s: %d %s", query, r.status, r.body)
		}
		lines := slices.DeleteFunc(strings.Split(h.reads("writer"), "\n"), func(line string) bool { return !strings.Contains(line, `"inbox"`) })
		if len(lines) != len(want) {
			t.Fatalf("after %q there are %d records, not %d: %s", query, len(lines), len(want), lines)
		}
		for i, ids := range want {
			if !strings.Contains(lines[i], ids) {
				t.Errorf("after %q the record %s has not %s", query, lines[i], ids)
			}
		}
	}
	first := `["` + offer() + `"]`
	look(token, "", first)
	look(token, "?peek=true", first) // the same list
	second := offer()
	look(token, "?see=true", first) // both are recorded as seen
	both := strings.TrimSuffix(first, "]") + `,"` + second + `"]`
	look(token, "?see=true", first, both) // and now they are a list that is read again
	look(idle, "", first, both)
	if reads := h.reads("idle"); reads != "" {
		t.Errorf("an empty inbox: %s", reads)
	}
	if r := h.call(h.admin, "GET /v1/inbox?agent=writer", ""); r.status != 200 { // an operator's look into it
		t.Fatalf("%d %s", r.status, r.body)
	}
	if reads := h.reads("admin/local"); strings.Count(reads, `"inbox"`) != 1 || !strings.Contains(reads, `"items":["writer"]`) {
		t.Errorf("the reads of the operator: %s", reads)
	}
}
