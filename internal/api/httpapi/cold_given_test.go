package httpapi_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// everyPart is content with something of each kind that a cold handoff leaves out.
func everyPart() client.Content {
	return client.Content{
		Ask: "look", Notes: "NOTES", State: "SECRET state", Summary: "SECRET summary", Data: json.RawMessage(`{"secret":1}`),
		Facts: []client.Point{{Text: "SECRET 1"}, {Text: "SECRET 2"}}, Decisions: []client.Point{{Text: "SECRET 3"}}, Questions: []string{"SECRET 4?"},
		Steps: []client.Step{{Action: "SECRET 5"}}, Memory: []client.MemoryAsk{{ID: "m1"}}, Artifacts: []client.Artifact{{Digest: "sha256:" + strings.Repeat("ab", 32)}},
	}
}

// What is given with a cold handoff does not arrive, and both its sender and its receiver are told so, also where it is asked for again.
func TestWhatACarriedColdHandoffLeavesOutIsNamedToBoth(t *testing.T) {
	h := open(t, httpapi.Options{})
	ann, _ := h.agent("ann")
	ben, _ := h.agent("ben")
	cyd, _ := h.agent("cyd")
	ctx := t.Context()
	made, err := ann.CreateTask(ctx, client.CreateInput{Intent: "x", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	sent, err := ann.Send(ctx, made.Task, client.SendInput{Epoch: made.Epoch, To: []string{"ben"}, Kind: client.Cold, Content: everyPart(), Confirm: client.ConfirmExplicit})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"texts": 3, "facts": 2, "decisions": 1, "questions": 1, "steps": 1, "memory": 1, "files": 1}
	if sent.Sealed == nil || !maps.Equal(sent.Sealed.LeftOut, want) {
		t.Errorf("ann is told %+v", sent.Sealed)
	}
	if _, err := ben.Accept(ctx, sent.Handoff, client.AcceptInput{}); err != nil {
		t.Fatal(err)
	}
	let, err := ann.Confirm(ctx, sent.Handoff, client.ConfirmInput{Epoch: sent.Epoch, Content: client.Content{Notes: "LAST", Facts: []client.Point{{Text: "SECRET 6"}}}})
	if err != nil {
		t.Fatal(err)
	}
	if want["facts"]++; let.Sealed == nil || !maps.Equal(let.Sealed.LeftOut, want) {
		t.Errorf("ann is told %+v", let.Sealed)
	}
	const line = "\n# Not here\nleft out by a cold handoff: texts ×3, facts ×3, decisions ×1, open questions ×1, steps ×1, memory items ×1, files ×1\n"
	sheet, err := ben.Content(ctx, made.Task, client.ContentInput{Render: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := sheet.Prompt; !strings.Contains(got, line) || strings.Contains(got, "SECRET") || !strings.Contains(got, "LAST") {
		t.Errorf("ben reads\n%s", got)
	}
	sent, err = ben.Send(ctx, made.Task, client.SendInput{Epoch: let.Epoch, To: []string{"cyd"}})
	if err != nil || len(sent.Sealed.LeftOut) > 0 {
		t.Fatalf("ben is told %+v, %v", sent.Sealed, err)
	}
	took, err := cyd.Accept(ctx, sent.Handoff, client.AcceptInput{Render: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := took.Content.Prompt; !strings.Contains(got, "\nleft out by a cold handoff: texts ×3, facts ×3,") || strings.Contains(got, "SECRET") {
		t.Errorf("cyd reads\n%s", got)
	}
}
