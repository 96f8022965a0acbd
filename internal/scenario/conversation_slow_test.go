//go:build slow || outside

package scenario

import (
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/conversations"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

func TestTasksOfStrangersStayOutOfAConversation(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "spy", "friend")
		h.say(h.agent("ann"), "plans", conversations.AppendTurnInput{Text: "hello"})
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "plan", Start: true, Conversation: "plans"})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}, Detail: "ours"})
		h.accept("bob", h.wait("bob"))
		r = h.create(h.agent("spy"), tasks.CreateInput{Intent: "meddle", Start: true, Conversation: "plans"})
		h.send(h.agent("spy"), r, handoffs.SendInput{To: []string{"friend"}, Detail: secret})
		h.accept("friend", h.wait("friend"))
		text := ok(h, h.agent("ann"), func(c caller.Caller) (conversations.Continuity, error) {
			return h.app.Conversations.Continuity(ctx(h), c, conversations.ContinuityInput{ID: "plans"})
		}).Text
		if strings.Contains(text, secret) || strings.Contains(text, "spy") || !strings.Contains(text, "ours") {
			h.Errorf("the continuity text is\n%s", text)
		}
		for range view.MaxPage {
			h.create(h.agent("spy"), tasks.CreateInput{Intent: "meddle", Conversation: "plans"})
		}
		h.settle()
		if _, err := h.hears(h.agent("bob"), "plans~ann"); err != nil {
			h.Errorf("tasks of a stranger took the conversation from whom it was handed to: %v", err)
		}
	})
}
