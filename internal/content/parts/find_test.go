package parts_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/parts"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// parted has a part of each kind.
func parted() envelope.Envelope {
	e := envelope.Envelope{Handoff: envelope.Header{TaskID: "t", From: "a"}, Task: envelope.Task{Intent: "Refund it."}}
	e.Task.State, e.Task.Data, e.ConversationSummary = "half done", json.RawMessage(`{"b":1,"a":2}`), "calm"
	e.Handoff.Detail, e.Handoff.Notes = "too hard", "call back"
	for _, id := range []string{"f1", "f2", "f3", "f10", "odd:id", "with-dash"} {
		e.KeyFacts = append(e.KeyFacts, envelope.Item{ID: id, Text: "text of " + id})
	}
	e.Decisions = []envelope.Item{{ID: "d1", Text: "refund", Reasoning: "it is right"}}
	e.History = []envelope.Step{{Agent: "a", Action: "looked"}, {Agent: "a", Action: "called", Tool: "crm"}}
	e.Memory = []envelope.MemoryRef{{ID: "mem_1", Text: "policy"}, {ID: "mem_2"}}
	e.Artifacts = []envelope.Artifact{{Digest: envelope.DigestOf([]byte("x"))}}
	e.Conversation = []envelope.Turn{{Agent: "c", Text: "hello"}, {Agent: "a", Text: "hi"}}
	e.Gaps = []envelope.Gap{{Kind: envelope.PartMemory, ID: "mem_3", Reason: envelope.GapForgotten}}
	return e
}

func TestPartsAreFoundByTheNamesThatAPromptHas(t *testing.T) {
	e := parted()
	omitted := []envelope.Omission{
		{Kind: envelope.PartFact, ID: "f2", Reason: envelope.OverBudget},
		{Kind: envelope.PartFact, ID: "f10", Reason: envelope.OverBudget},
		{Kind: envelope.PartStep, Count: 2, Reason: envelope.ToolCall},
		{Kind: envelope.PartConversation, Count: 2, Reason: envelope.RawLog},
	}
	for _, x := range []struct {
		names, want, missing string
	}{
		{"fact:f2", "fact:f2", ""},
		{`fact:"f2" "f3"`, "fact:f2 fact:f3", ""},
		{"f2 d1 mem_1", "fact:f2 decision:d1 memory:mem_1", ""},
		{"step:2 data reasoning:d1", "step:2 data reasoning:d1", ""},
		{"fact:f1-f3", "fact:f1 fact:f2 fact:f3", ""},
		{"fact:f3-f99 fact:f10", "fact:f3 fact:f10", ""},
		{"fact:odd:id fact:with-dash", "fact:odd:id fact:with-dash", ""},
		{"fact", "fact:f2 fact:f10", ""},
		{"step", "step:1 step:2", ""},
		{"decision", "decision:d1", ""},
		{"all", "fact:f2 fact:f10 step:1 step:2 conversation", ""},
		{"fact:f7 fact:f2 memory:mem_3 mem_9", "fact:f2", "fact:f7, memory:mem_3 (forgotten since), mem_9"},
		{e.Artifacts[0].Digest, "artifact:" + e.Artifacts[0].Digest, ""},
	} {
		found, missing, err := parts.Find(&e, strings.Fields(x.names), omitted)
		if err != nil {
			t.Fatal(err)
		}
		names := make([]string, len(found))
		for i, p := range found {
			names[i] = p.Name()
			if p.Text == "" && p.Kind != envelope.PartArtifact {
				t.Errorf("%s has no text", p.Name())
			}
		}
		if got := strings.Join(names, " "); got != x.want || strings.Join(missing, ", ") != x.missing {
			t.Errorf("%s: got %s, missing %s", x.names, got, strings.Join(missing, ", "))
		}
	}
	if all, _, err := parts.Find(&e, []string{envelope.AllParts}, nil); err != nil || len(all) != 5+6+1+1+2+2+1+1 {
		t.Errorf("%d parts in all, %v", len(all), err)
	}
	for _, name := range []string{"", "f", "facts", "f99", "step 1", "…"} {
		if _, _, err := parts.Find(&e, []string{name}, nil); refusal.CodeOf(err) != refusal.Invalid {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Every part of a packed envelope that its omissions name is found in what it was made of.
func TestNoNameOfAPartMeansAnotherPart(t *testing.T) {
	e := parted()
	all, _, err := parts.Find(&e, []string{envelope.AllParts}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		found, missing, err := parts.Find(&e, []string{p.Name()}, nil)
		if err != nil || len(missing) > 0 || !slices.Equal(found, []parts.Part{p}) {
			t.Errorf("%s: %v, missing %v, %v", p.Name(), found, missing, err)
		}
	}
}
