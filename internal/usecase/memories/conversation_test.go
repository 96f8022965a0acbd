package memories_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/usecase/conversations"

	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
)

func (h *harness) talk(by caller.Caller, in conversations.ConversationInput) conversations.Conversation {
	h.Helper()
	c, err := h.talks.Show(h.Context(), by, in)
	if err != nil {
		h.Fatalf("%s, %+v: %v", by.Principal, in, err)
	}
	return c
}

func texts(turns []conversation.Turn) (all []string) {
	for _, t := range turns {
		all = append(all, fmt.Sprintf("%d %s %s", t.N, t.Agent, t.Text))
	}
	return all
}

func TestAConversationGoesOnAcrossThreeAgentsAndNamesThoseBefore(t *testing.T) {
	h := open(t)
	scout, planner, migrator := agent("scout"), agent("planner"), agent("migrator")
	taskID := h.task(1, "scout", owned("scout"))
	h.say(scout, conversations.AppendTurnInput{Conversation: "c1", Role: conversation.User, Text: "Split the orders table.", Task: taskID})
	h.say(scout, conversations.AppendTurnInput{Conversation: "c1", Text: "It grows by 4 %."})
	_, err := h.talks.Show(t.Context(), planner, conversations.ConversationInput{ID: "c1~scout"})
	refused(t, "before the handoff", err, refusal.NotFound)
	h.stands(taskID, func(t *task.Task) {
		owned("scout", "planner")(t)
		t.Handoff = &task.Handoff{N: 1, Stage: event.Transferred, From: "scout", Receiver: "planner", Reason: event.ReasonSpecialization, Detail: "needs a plan"}
	})
	h.say(planner, conversations.AppendTurnInput{Conversation: "c1~scout", Text: "Hash of region and month.", Handoff: event.HandoffID(taskID, 1)})
	h.stands(taskID, owned("scout", "planner", "migrator"))
	got := h.talk(migrator, conversations.ConversationInput{ID: "c1~scout", Limit: 2})
	if got.Count != 3 || !slices.Equal(texts(got.Turns), []string{"2 scout It grows by 4 %.", "3 planner Hash of region and month."}) ||
		len(got.Speakers) != 2 || !slices.Equal(got.Tasks, []string{taskID}) || !slices.Equal(got.Handoffs, []string{taskID + ".h1"}) {
		t.Errorf("%+v", got)
	}
	if got := h.talk(migrator, conversations.ConversationInput{ID: "c1~scout", Before: 2}); !slices.Equal(texts(got.Turns), []string{"1 scout Split the orders table."}) {
		t.Errorf("%+v", got)
	}
	h.settle()
	text := must[conversations.Continuity](t)(h.talks.Continuity(t.Context(), migrator, conversations.ContinuityInput{ID: "c1~scout"})).Text
	for _, want := range []string{"3 turns", "scout (2), planner (1), migrator (0)", "scout -> planner", "planner -> migrator", "Split the orders table.", "Hash of region"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	h.stands(taskID, func(t *task.Task) { t.Conversation = "c1~scout" })
	g := h.gather(migrator, memories.Gather{Task: h.tasks[home+"/"+taskID]})
	if len(g.Turns) != 3 || g.Turns[0].Role != "user" || g.Turns[2].Agent != "planner" || !strings.Contains(g.Continuity, "scout -> planner") || g.Gaps != nil {
		t.Errorf("%+v", g)
	}
	h.stands(taskID, func(t *task.Task) { t.State = event.Completed })
	h.talk(scout, conversations.ConversationInput{ID: "c1"}) // has spoken
	_, err = h.talks.Show(t.Context(), migrator, conversations.ConversationInput{ID: "c1~scout"})
	refused(t, "the task has ended", err, refusal.NotFound)
	if g := h.gather(migrator, memories.Gather{Task: h.tasks[home+"/"+taskID]}); g.Turns != nil || g.Continuity != "" {
		t.Errorf("%+v", g)
	}
}

func TestALongConversationKeepsItsFirstRequestAndItsCounts(t *testing.T) {
	h := open(t)
	ann := agent("ann")
	h.say(ann, conversations.AppendTurnInput{Conversation: "c", Role: conversation.System, Text: "Be brief."})
	h.say(ann, conversations.AppendTurnInput{Conversation: "c", Role: conversation.User, Text: "The first request."})
	for n := range 600 {
		h.say(ann, conversations.AppendTurnInput{Conversation: "c", Text: fmt.Sprint("step ", n)})
	}
	got := must[conversations.Continuity](t)(h.talks.Continuity(t.Context(), ann, conversations.ContinuityInput{ID: "c", Budget: 600})).Text
	if len(got) > 600 || !strings.Contains(got, "602 turns") || !strings.Contains(got, "ann (602)") || !strings.Contains(got, "The first request.") || !strings.Contains(got, "step 599") {
		t.Errorf("%d bytes:\n%s", len(got), got)
	}
	h.restart()
	if got := h.talk(ann, conversations.ConversationInput{ID: "c"}); got.Count != 602 || len(got.Turns) != 50 || got.Turns[49].Text != "step 599" {
		t.Errorf("%d of %d", len(got.Turns), got.Count)
	}
	g := h.gather(ann, memories.Gather{Task: task.Task{ID: "task_new", State: event.Pending, Requester: "agent/ann", Conversation: "c~ann"}})
	if len(g.Turns) != 40 || g.Turns[39].Text != "step 599" || !strings.Contains(g.Continuity, "The first request.") {
		t.Errorf("%d turns, %s", len(g.Turns), g.Continuity)
	}
	for _, budget := range []int{-1, 1, 199, 65537} {
		_, err := h.talks.Continuity(t.Context(), ann, conversations.ContinuityInput{ID: "c", Budget: budget})
		refused(t, "a budget", err, refusal.Invalid)
	}
}

func TestATaskCarriesItsConversationAlong(t *testing.T) {
	h := open(t)
	ann, bob, spy := agent("ann"), agent("bob"), agent("spy")
	h.say(ann, conversations.AppendTurnInput{Conversation: "c", Text: secret})
	carry := func(agents ...string) func(*task.Task) {
		return func(t *task.Task) { owned(agents...)(t); t.Conversation = "c~ann" }
	}
	h.task(1, "spy", carry("spy")) // who names a conversation in a task has no part in it by that
	_, err := h.talks.Show(t.Context(), spy, conversations.ConversationInput{ID: "c~ann"})
	refused(t, "a spy", err, refusal.NotFound)
	taskID := h.task(2, "ann", carry("ann", "bob"))
	child := h.task(3, "bob", func(t *task.Task) { carry("cy")(t); t.Parent.Task = taskID })
	for _, by := range []caller.Caller{bob, agent("cy")} {
		if got := h.talk(by, conversations.ConversationInput{ID: "c~ann"}); len(got.Turns) != 1 {
			t.Errorf("%s: %+v", by.Principal, got)
		}
		list := must[conversations.ConversationList](t)(h.talks.List(t.Context(), by, conversations.ConversationsInput{})).Conversations
		if len(list) != 1 || list[0].ID != "c~ann" || list[0].Turns != nil {
			t.Errorf("%s lists %+v", by.Principal, list)
		}
	}
	if list := must[conversations.ConversationList](t)(h.talks.List(t.Context(), spy, conversations.ConversationsInput{})).Conversations; len(list) > 0 {
		t.Errorf("a spy lists %+v", list)
	}
	g := h.gather(bob, memories.Gather{Task: h.tasks[home+"/"+taskID]})
	if len(g.Turns) != 1 || !strings.Contains(g.Continuity, "ann -> bob") {
		t.Errorf("%+v", g)
	}
	if g := h.gather(spy, memories.Gather{Task: task.Task{ID: "task_new", State: event.Pending, Requester: "agent/spy", Conversation: "c~ann"}}); g.Turns != nil || g.Gaps != nil {
		t.Errorf("a spy's new task: %+v", g)
	}
	if g := h.gather(ann, memories.Gather{Task: task.Task{ID: "task_new", State: event.Pending, Requester: "agent/ann", Conversation: "c~ann"}}); len(g.Turns) != 1 {
		t.Errorf("a task before it is recorded: %+v", g)
	}
	h.say(bob, conversations.AppendTurnInput{Conversation: "c~ann", Text: "I go on"})
	h.stands(child, func(t *task.Task) { t.State = event.Completed })
	_, err = h.talks.AppendTurn(t.Context(), agent("cy"), conversations.AppendTurnInput{Conversation: "c~ann", Role: conversation.Tool, Text: "late"})
	refused(t, "the child has ended", err, refusal.NotFound)
}

func TestATurnIsAppendedOnceUnderOneKey(t *testing.T) {
	h := open(t)
	in := conversations.AppendTurnInput{Conversation: "c", Role: conversation.Assistant, Text: "hello"}
	a := must[conversations.Said](t)(h.talks.AppendTurn(t.Context(), agent("ann").WithKey("k"), in))
	h.say(agent("ann"), conversations.AppendTurnInput{Conversation: "c", Text: "more"})
	h.restart()
	b := must[conversations.Said](t)(h.talks.AppendTurn(t.Context(), agent("ann").WithKey("k"), in))
	if a.Turn != 1 || b.Turn != 1 || !b.Repeat || a.Position != b.Position {
		t.Errorf("%+v, %+v", a, b)
	}
	in.Text = "else"
	_, err := h.talks.AppendTurn(t.Context(), agent("ann").WithKey("k"), in)
	refused(t, "another under the same key", err, refusal.Conflict)
}

func TestConversationsAreListedForThoseWhoTakePart(t *testing.T) {
	h := open(t)
	task := h.task(1, "ann", owned("ann", "bob"))
	h.say(agent("ann"), conversations.AppendTurnInput{Conversation: "c1", Text: "a", Task: task})
	h.say(agent("eve"), conversations.AppendTurnInput{Conversation: "c2", Text: "b"})
	h.say(operator, conversations.AppendTurnInput{Conversation: "c3", Agent: "bob", Text: "he said so"})
	h.settle()
	for name, c := range map[string]struct {
		by   caller.Caller
		in   conversations.ConversationsInput
		want []string
	}{
		"ann":           {agent("ann"), conversations.ConversationsInput{}, []string{"c1~ann"}},
		"bob":           {agent("bob"), conversations.ConversationsInput{}, []string{"c3~bob", "c1~ann"}},
		"bob's second":  {agent("bob"), conversations.ConversationsInput{After: "c3~bob"}, []string{"c1~ann"}},
		"eve":           {agent("eve"), conversations.ConversationsInput{}, []string{"c2~eve"}},
		"auditor":       {auditor, conversations.ConversationsInput{}, []string{"c3~bob", "c2~eve", "c1~ann"}},
		"of an agent":   {auditor, conversations.ConversationsInput{Agent: "bob"}, []string{"c3~bob"}},
		"of a task":     {auditor, conversations.ConversationsInput{Task: task}, []string{"c1~ann"}},
		"the first one": {operator, conversations.ConversationsInput{Limit: 1}, []string{"c3~bob"}},
	} {
		var got []string
		for _, x := range must[conversations.ConversationList](t)(h.talks.List(t.Context(), c.by, c.in)).Conversations {
			got = append(got, x.ID)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for name, in := range map[string]conversations.ConversationsInput{"limit": {Limit: 999}, "agent": {Agent: "A"}, "task": {Task: "x"}, "after": {After: "A"}} {
		_, err := h.talks.List(t.Context(), auditor, in)
		refused(t, name, err, refusal.Invalid)
	}
	for name, in := range map[string]conversations.ConversationInput{"limit": {ID: "c1", Limit: 501}, "before": {ID: "c1", Before: -1}, "id": {ID: "../c"}} {
		_, err := h.talks.Show(t.Context(), auditor, in)
		refused(t, name, err, refusal.Invalid)
	}
	_, err := h.talks.AppendTurn(t.Context(), auditor, conversations.AppendTurnInput{Conversation: "c1", Agent: "ann", Role: "user", Text: "x"})
	refused(t, "an auditor", err, refusal.NotPermitted)
	_, err = h.talks.AppendTurn(t.Context(), agent("ann"), conversations.AppendTurnInput{Conversation: "c1", Agent: "bob", Role: "user", Text: "x"})
	refused(t, "in another's name", err, refusal.NotPermitted)
}

func operatorIn(workspace string) identity.Principal {
	return identity.Principal{Workspace: workspace, Role: identity.Operator, Name: "olga"}
}
