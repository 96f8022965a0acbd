package scenario

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Untaken: a handoff that nobody takes, in each way that it can fail.

// everything is content with a word of its own in each field.
func everything(prefix string) (envelopes.Content, []string) {
	sure := 0.5
	c := envelopes.Content{
		Ask: prefix + "ASK", State: prefix + "STATE", Summary: prefix + "SUMMARY", Notes: prefix + "NOTES", Questions: []string{prefix + "QUESTION"},
		Facts:     []envelopes.Point{{ID: prefix + "f1", Text: prefix + "PINNED", Pinned: true}, {ID: prefix + "f2", Text: prefix + "FACT"}},
		Decisions: []envelopes.Point{{ID: prefix + "d1", Text: prefix + "DECISION"}}, Steps: []envelopes.Step{{Action: "did", Detail: prefix + "STEP"}},
		Data: json.RawMessage(`{"key":"` + prefix + `DATA"}`), Confidence: &sure,
	}
	words := []string{"STATE", "SUMMARY", "QUESTION", "PINNED", "FACT", "DECISION", "STEP", "DATA"}
	for i := range words {
		words[i] = prefix + words[i]
	}
	return c, words
}

// without names the words that a text does not have.
func without(text string, words []string) (missing []string) {
	for _, w := range words {
		if !strings.Contains(text, w) {
			missing = append(missing, w)
		}
	}
	return missing
}

// untaken is a task of ann's that she hands to bob, in vain so far.
func (h *harness) untaken(kind event.Kind, in handoffs.SendInput) (r taskstore.Receipt, words []string) {
	h.Helper()
	own, words := everything("own")
	r = h.create(h.agent("ann"), tasks.CreateInput{Intent: "fix the roof", Start: true, Content: own})
	in.To, in.Kind = []string{"bob"}, kind
	if in.Content.IsZero() {
		in.Content = envelopes.Content{Ask: "look at it", Notes: "on the north side"}
	}
	in = lost(in)
	r = h.send(h.agent("ann"), r, in)
	if kind == event.Supervised {
		ok(h, h.as(identity.Operator, "eva"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Approve(ctx(h), c, tasks.ApproveInput{ID: r.Handoff})
		})
	}
	return r, words
}

// prompt is what a caller reads of a task, a handoff or a share.
func (h *harness) prompt(by caller.Caller, id string) string {
	h.Helper()
	return h.content(by, envelopes.ContentInput{ID: id, Render: true}).Prompt
}

func (h *harness) preview(by caller.Caller, task string) string {
	h.Helper()
	return ok(h, by, func(c caller.Caller) (tasks.Preview, error) {
		return h.app.Tasks.Preview(ctx(h), c, tasks.PreviewInput{Task: task})
	}).Prompt
}

func TestOnlyTheReceiverOfAColdHandoffLacksTheContext(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "cyd", "dan")
		r, words := h.untaken(event.Cold, handoffs.SendInput{})
		if missing := without(h.preview(h.agent("ann"), r.Task), words); missing != nil {
			h.Errorf("while it is offered, the sender's next envelope lacks %v", missing)
		}
		share := h.share(h.agent("ann"), r, tasks.ShareInput{To: "dan"})
		if missing := without(h.prompt(h.agent("dan"), share.Share), words); missing != nil {
			h.Errorf("what is shared meanwhile lacks %v", missing)
		}
		got := h.acceptPrompt("bob")
		if p := got.Content.Prompt; !strings.Contains(p, "look at it") || len(without(p, words)) != len(words) {
			h.Errorf("bob reads\n%s", p)
		}
		h.send(h.agent("bob"), got.Receipt, handoffs.SendInput{To: []string{"cyd"}})
		if p := h.acceptPrompt("cyd").Content.Prompt; len(without(p, words)) != len(words) {
			h.Errorf("bob passes on what bob was not given:\n%s", p)
		}
	})
}
