//go:build slow

package httpapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

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

// What the requester and operators pinned outlasts a cold handoff by an agent, and an agent that says otherwise after it is named.
func TestAColdHandoffByAnAgentKeepsWhatOperatorsPinned(t *testing.T) {
	h := open(t, httpapi.Options{})
	mal, _ := h.agent("mal")
	ben, _ := h.agent("ben")
	cyd, _ := h.agent("cyd")
	dan, _ := h.agent("dan")
	ctx := t.Context()
	made, err := h.as(h.admin).CreateTask(ctx, client.CreateInput{Intent: "x", Content: client.Content{
		Facts:     []client.Point{{ID: "time", Text: "It was 14:03.", Pinned: true}, {ID: "a", Text: "SECRET 1"}},
		Decisions: []client.Point{{ID: "stop", Text: "Crane 7 stays stopped.", Pinned: true}}, State: "SECRET 2",
	}, Send: &client.SendInput{To: []string{"mal"}}})
	if err != nil {
		t.Fatal(err)
	}
	took, err := mal.Accept(ctx, made.Handoff, client.AcceptInput{})
	for _, hop := range []struct {
		from, to *client.Client
		name     string
		in       client.SendInput
		reads    []string
	}{
		{mal, ben, "ben", client.SendInput{Kind: client.Cold, Content: client.Content{Ask: "do", Facts: []client.Point{{Text: "SECRET 3", Pinned: true}}}}, []string{"\nleft out by a cold handoff: texts ×1, facts ×2, steps ×1\n", "what its requester and operators pinned, and nothing else", ":)\ntime It was 14:03.", ":)\nstop Crane 7 stays stopped."}},
		{ben, cyd, "cyd", client.SendInput{Content: client.Content{Facts: []client.Point{{ID: "time", Text: "It was 16:00."}}}}, []string{"time It was 16:00.\n(time replaces what ", "stop Crane 7 stays stopped."}},
		{cyd, dan, "dan", client.SendInput{Kind: client.Cold}, []string{"\nleft out by a cold handoff: texts ×1, facts ×2, steps ×3\n", "time It was 16:00.\n(time replaces what ", "stop Crane 7 stays stopped."}},
	} {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := hop.from.Progress(ctx, made.Task, client.ProgressInput{Epoch: took.Epoch, Note: "worked"}); err != nil {
			t.Fatal(err)
		}
		hop.in.Epoch, hop.in.To = took.Epoch, []string{hop.name}
		sent, sendErr := hop.from.Send(ctx, made.Task, hop.in)
		if sendErr != nil {
			t.Fatal(sendErr)
		}
		if took, err = hop.to.Accept(ctx, sent.Handoff, client.AcceptInput{Render: true}); err != nil {
			t.Fatal(err)
		}
		for _, want := range hop.reads {
			if !strings.Contains(took.Content.Prompt, want) || strings.Contains(took.Content.Prompt, "SECRET") {
				t.Errorf("%s does not read %q, or a secret, in\n%s", hop.name, want, took.Content.Prompt)
			}
		}
	}
}

// Readers of earlier prompts know the ids of what was said: after a cold handoff, and after more replacements than an entry names, an id still means that. Its author
// alone says it again, as it was.
func TestAnIDStandsForWhatItStoodForBeforeAColdHandoff(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	agents := map[string]*client.Client{}
	for _, name := range []string{"ann", "mal"} {
		agents[name], _ = h.agent(name)
	}
	said := []client.Point{{Text: "ten units"}, {ID: "a1", Text: "one"}}
	made, err := agents["ann"].CreateTask(ctx, client.CreateInput{Intent: "x", Start: true, Content: client.Content{Facts: said, Decisions: said}})
	if err != nil {
		t.Fatal(err)
	}
	owner, epoch := "ann", made.Epoch
	send := func(in client.SendInput) error {
		in.Epoch, in.To = epoch, []string{map[string]string{"ann": "mal", "mal": "ann"}[owner]}
		sent, err := agents[owner].Send(ctx, made.Task, in)
		if err == nil {
			got, err := agents[in.To[0]].Accept(ctx, sent.Handoff, client.AcceptInput{Render: true})
			if err != nil {
				t.Fatal(err)
			}
			owner, epoch = in.To[0], got.Epoch
		}
		return err
	}
	refused := func(content client.Content, message string) {
		t.Helper()
		e, is := errors.AsType[*client.Error](send(client.SendInput{Content: content}))
		if !is || e.Code != client.Invalid || e.Message != message || e.Hint != "use another id, or omit it" {
			t.Errorf("%v, want %s", e, message)
		}
	}
	if err := send(client.SendInput{Kind: client.Cold}); err != nil {
		t.Fatal(err)
	}
	refused(client.Content{Facts: []client.Point{{ID: "f1", Text: "99 units"}}}, `a fact "f1" was in an earlier envelope of this task: its id stands for that`)
	refused(client.Content{Facts: []client.Point{{ID: "A1", Text: "one"}}}, `a fact "a1" was in an earlier envelope of this task: its id stands for that`)
	refused(client.Content{Decisions: []client.Point{{ID: "a1", Text: "one"}}}, `a decision "a1" was in an earlier envelope of this task: its id stands for that`)
	if err := send(client.SendInput{Content: client.Content{Facts: []client.Point{{Text: "99 units"}}, Decisions: []client.Point{{ID: "f1", Text: "go"}}}}); err != nil {
		t.Fatal(err)
	}
	refused(client.Content{Facts: []client.Point{{ID: "a1", Text: "two"}}}, `a fact "a1" was in an earlier envelope of this task: its id stands for that`)
	chain := []client.Point{{ID: "a1", Text: "one"}}
	for n := range 11 {
		chain = append(chain, client.Point{ID: fmt.Sprintf("c%d", n), Supersedes: chain[n].ID, Text: fmt.Sprint(n)})
	}
	if err := send(client.SendInput{Content: client.Content{Facts: chain[:1], Decisions: []client.Point{{Text: "look"}}}}); err != nil {
		t.Fatal(err)
	}
	if err := send(client.SendInput{Content: client.Content{Facts: chain[1:], Decisions: []client.Point{{Text: "go on"}}}}); err != nil {
		t.Fatal(err)
	}
	refused(client.Content{Facts: []client.Point{{ID: "a1", Text: "mine"}}}, `a fact "a1" was in an earlier envelope of this task: its id stands for that`)
	sheet, err := agents[owner].Content(ctx, made.Task, client.ContentInput{Render: true})
	if err != nil || !strings.Contains(sheet.Prompt, "f2 99 units\n") || !strings.Contains(sheet.Prompt, "f1 go\n") {
		t.Errorf("%v: %s", err, sheet.Prompt)
	}
}

// The deadline of a task is part of its description, also for the receiver of a cold handoff.
func TestAColdReceiverReadsTheDeadline(t *testing.T) {
	h := open(t, httpapi.Options{})
	ann, _ := h.agent("ann")
	ben, _ := h.agent("ben")
	ctx := t.Context()
	deadline := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	made, err := ann.CreateTask(ctx, client.CreateInput{Intent: "x", Deadline: deadline, Start: true, Send: &client.SendInput{To: []string{"ben"}, Kind: client.Cold}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := ben.Accept(ctx, made.Handoff, client.AcceptInput{Render: true})
	if want := "deadline " + deadline.Format(time.RFC3339); err != nil || !strings.Contains(got.Content.Prompt, want) {
		t.Errorf("%v: ben does not read %q in\n%s", err, want, got.Content.Prompt)
	}
}

// A child knows the ids of its own envelopes alone: what it is refused is the same whether its parent's are remembered or not, and names none of theirs.
func TestAChildIsNotRefusedAnIDThatItsParentHad(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	agents := map[string]*client.Client{}
	for _, name := range []string{"ann", "ben", "cyd"} {
		agents[name], _ = h.agent(name)
	}
	for _, remembered := range []bool{false, true} {
		sent, err := agents["ann"].CreateTask(ctx, client.CreateInput{Intent: "x", Start: true, Content: client.Content{Facts: []client.Point{{ID: "secret", Text: "one"}}}})
		if err == nil {
			sent, err = agents["ann"].Send(ctx, sent.Task, client.SendInput{Epoch: sent.Epoch, To: []string{"ben"}, Kind: client.Cold})
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := agents["ben"].Accept(ctx, sent.Handoff, client.AcceptInput{})
		if err != nil {
			t.Fatal(err)
		}
		in := client.SendInput{Epoch: got.Epoch, Kind: client.Broadcast, FanOut: true, FanIn: client.FanIn{Mode: client.FanInNone}, To: []string{"cyd"}}
		parts, err := agents["ben"].Send(ctx, sent.Task, in)
		if err != nil {
			t.Fatal(err)
		}
		preview := func(by, task string) error {
			_, err := agents[by].PreviewEnvelope(ctx, task, client.PreviewInput{Content: client.Content{Facts: []client.Point{{ID: "secret", Text: "two"}}}})
			return err
		}
		if remembered {
			if e, is := errors.AsType[*client.Error](preview("ben", sent.Task)); !is || e.Code != client.Invalid {
				t.Errorf("ben: %v", e)
			}
		}
		if _, err := agents["cyd"].Accept(ctx, parts.Children[0]+".h1", client.AcceptInput{}); err != nil {
			t.Fatal(err)
		}
		if err := preview("cyd", parts.Children[0]); err != nil {
			t.Errorf("remembered %v: %v", remembered, err)
		}
	}
}
