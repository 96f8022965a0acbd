//go:build slow

package httpapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// remembering is a task whose agents remember and talk.
type remembering struct {
	*testing.T
	by    map[string]*client.Client
	task  string
	epoch uint64
	items map[string]string // ids by words
}

func (r *remembering) must(got client.Receipt, err error) client.Receipt {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
	return got
}

// says leaves a turn in the conversation and an item in the scope of the task.
func (r *remembering) says(agent, words string, task string) {
	r.Helper()
	if _, err := r.by[agent].AppendTurn(r.Context(), "talk", client.TurnInput{Role: client.SpeakerUser, Text: "TURN" + words, Task: task}); err != nil {
		r.Fatal(err)
	}
	item, err := r.by[agent].Remember(r.Context(), client.RememberInput{Text: "ITEM" + words, Scope: client.ScopeTask, Task: task, Pinned: true})
	if err != nil {
		r.Fatal(err)
	}
	r.items["ITEM"+words] = item.ID
}

// moves hands a task over, and returns the prompt of its receiver.
func (r *remembering) moves(from, to string, in client.SendInput) string {
	r.Helper()
	in.Epoch, in.To = r.epoch, []string{to}
	handoff := r.must(r.by[from].Send(r.Context(), r.task, in))
	id := handoff.Handoff
	if len(handoff.Children) > 0 {
		id = handoff.Children[0] + ".h1"
	}
	got, err := r.by[to].Accept(r.Context(), id, client.AcceptInput{Render: true})
	if err != nil {
		r.Fatal(err)
	}
	if len(handoff.Children) == 0 {
		r.epoch = got.Epoch
	}
	return got.Content.Prompt
}

// reads holds what an agent reads of the words that there are, by every way that there is, against what it should.
func (r *remembering) reads(agent, prompt string, want ...string) {
	r.Helper()
	said := prompt
	add := func(more any, err error) {
		said += fmt.Sprintf("\n%+v", more)
		if e, is := err.(*client.Error); err != nil && (!is || e.Code != client.NotFound) { //nolint:errorlint // a test
			r.Errorf("%s: %v", agent, err)
		}
	}
	c, ctx := r.by[agent], r.Context()
	add(c.Conversation(ctx, "talk~ann", client.ConversationOptions{}))
	add(c.Continuity(ctx, "talk~ann", 0))
	for _, f := range []client.MemoryFilter{{}, {Query: "ITEMone ITEMtwo ITEMthree ITEMfour"}, {Task: r.task}, {Pinned: true}} {
		page, err := c.SearchMemory(ctx, f)
		add(page, err)
	}
	for _, id := range r.items {
		item, err := c.Memory(ctx, id, client.MemoryReference{})
		add(item, err)
		versions, err := c.MemoryVersions(ctx, id, 0, 0)
		add(versions, err)
	}
	for _, words := range []string{"one", "two", "three", "four"} {
		for _, kind := range []string{"TURN", "ITEM"} {
			if is := strings.Contains(said, kind+words); is != slices.Contains(want, kind+words) {
				r.Errorf("%s reads %s: %v", agent, kind+words, is)
			}
		}
	}
}

// What was remembered for a task and said in its conversation goes no way round a cold handoff, and former owners get nothing of what is remembered after them.
func TestMemoryDoesNotGoRoundAColdHandoff(t *testing.T) {
	h := open(t, httpapi.Options{})
	r := &remembering{T: t, by: map[string]*client.Client{}, items: map[string]string{}}
	for _, name := range []string{"ann", "ben", "cleo", "dan", "eve", "kid"} {
		r.by[name], _ = h.agent(name)
	}
	made := r.must(r.by["ann"].CreateTask(t.Context(), client.CreateInput{Intent: "x", Start: true, Conversation: "talk"}))
	r.task, r.epoch = made.Task, made.Epoch
	r.says("ann", "one", r.task)
	ben := r.moves("ann", "ben", client.SendInput{})
	r.reads("ben", ben, "TURNone", "ITEMone")
	r.says("ben", "two", r.task)
	cleo := r.moves("ben", "cleo", client.SendInput{Kind: client.Cold})
	r.reads("cleo", cleo)
	r.says("cleo", "three", r.task)
	r.reads("cleo", cleo, "TURNthree", "ITEMthree")
	r.reads("ben", "", "TURNone", "ITEMone", "TURNtwo", "ITEMtwo", "TURNthree") // who has spoken in it hears what is said
	other := r.must(r.by["cleo"].CreateTask(t.Context(), client.CreateInput{Intent: "z", Start: true, Conversation: "talk~ann"}))
	r.says("cleo", "four", other.Task)
	sent := r.must(r.by["cleo"].Send(t.Context(), other.Task, client.SendInput{Epoch: other.Epoch, To: []string{"eve"}}))
	eve, err := r.by["eve"].Accept(t.Context(), sent.Handoff, client.AcceptInput{Render: true})
	if err != nil {
		t.Fatal(err)
	}
	r.reads("eve", eve.Content.Prompt, "TURNthree", "TURNfour", "ITEMfour")
	dan := r.moves("cleo", "dan", client.SendInput{Content: client.Content{Memory: []client.MemoryAsk{{ID: r.items["ITEMtwo"]}}}})
	r.reads("dan", dan, "TURNthree", "ITEMthree", "TURNfour")
	r.reads("ann", "", "TURNone", "ITEMone", "TURNtwo", "ITEMtwo", "TURNthree", "ITEMthree", "TURNfour")
	r.reads("cleo", "", "TURNthree", "ITEMthree", "TURNfour", "ITEMfour")
	kid := r.moves("dan", "kid", client.SendInput{Kind: client.Delegation, Content: client.Content{Ask: "y"}})
	r.reads("kid", kid, "TURNthree", "TURNfour", "ITEMthree")
}
