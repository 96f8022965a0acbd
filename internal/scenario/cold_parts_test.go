package scenario

import (
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/conversations"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func TestAllPartsOfAColdTaskSayThatItHasNone(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "count the eggs", Start: true, Content: envelopes.Content{Facts: []envelopes.Point{{Text: "there are 12"}}}})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}, Kind: event.Cold})
		b := h.acceptPrompt("bob")
		for _, name := range []string{"all", "fact"} {
			_, err := call(h.agent("bob"), func(c caller.Caller) (envelopes.Parts, error) {
				return h.app.Envelopes.Parts(ctx(h), c, envelopes.PartsInput{ID: b.Task, Parts: []string{name}})
			})
			must(h, name, err, refusal.NotFound, "description of the task alone", "work from the prompt")
		}
	})
}

func TestAfterAColdHandoffTheRequesterPassesOnByItselfWhatIsFromSince(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "cyd", "dan")
		say := func(who, text string) {
			h.say(h.agent(who), "eggs", conversations.AppendTurnInput{Role: conversation.User, Text: text})
		}
		say("ann", "EARLY: count them twice")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "count the eggs", Start: true, Conversation: "eggs"})
		pin := func(who, text string) {
			ok(h, h.agent(who), func(c caller.Caller) (memories.Item, error) {
				return h.app.Memories.Remember(ctx(h), c, memories.RememberInput{Text: text, Scope: memory.Task, Task: r.Task, Pinned: true})
			})
		}
		pin("ann", "EARLY: eggs are white")
		pass := func(from, to string, kind event.Kind) string {
			time.Sleep(time.Second)
			h.send(h.agent(from), taskstore.Receipt{Task: r.Task, Epoch: h.task(r.Task).Epoch}, handoffs.SendInput{
				To: []string{to}, Kind: kind, Content: envelopes.Content{Recent: 5, Decisions: []envelopes.Point{{Text: "Go on, says " + from}}},
			})
			return h.acceptPrompt(to).Content.Prompt
		}
		h.says(pass("ann", "bob", ""), "EARLY: count them twice", "EARLY: eggs are white")
		pass("bob", "cyd", event.Cold)
		time.Sleep(time.Second)
		pin("cyd", "LATE: eggs are brown")
		pass("cyd", "ann", "")
		say("ann", "LATE: count them once")
		got := pass("ann", "dan", "")
		h.says(got, "LATE: count them once", "LATE: eggs are brown")
		if strings.Contains(got, "EARLY") {
			h.Errorf("ann, who reads all of the task, passed on what the cold handoff withheld:\n%s", got)
		}
	})
}

func TestAShareShowsNoPermissions(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "write", Start: true, Permissions: []string{"read", "write"}})
		ok(h, h.agent("ann"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Share(ctx(h), c, tasks.ShareInput{Task: r.Task, Epoch: r.Epoch, To: "bob", Detail: "for your information"})
		})
		item := h.wait("bob")
		sheet := ok(h, h.agent("bob"), func(c caller.Caller) (envelopes.Sheet, error) {
			return h.app.Envelopes.Fetch(ctx(h), c, envelopes.ContentInput{ID: item.ID, Render: true})
		})
		if strings.Contains(sheet.Prompt, "permissions:") || !strings.Contains(sheet.Prompt, "you do not own it") {
			h.Errorf("bob reads\n%s", sheet.Prompt)
		}
	})
}
