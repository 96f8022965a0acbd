package scenario

import (
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
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
