package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/conversations"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// What the prompt of a receiver says of who did what, and of where its result goes.

// says checks that a prompt has texts, in this order.
func (h *harness) says(prompt string, texts ...string) {
	h.Helper()
	rest := prompt
	for _, text := range texts {
		_, after, found := strings.Cut(rest, text)
		if !found {
			h.Errorf("the prompt does not say %q, in the order of %q:\n%s", text, texts, prompt)
			return
		}
		rest = after
	}
}

func TestFactsAndDecisionsNameTheirAuthorWhereItIsNotTheSender(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "cyd", "dan")
		said := func(fact, decision string) envelopes.Content {
			return envelopes.Content{Facts: []envelopes.Point{{Text: fact}}, Decisions: []envelopes.Point{{Text: decision}}}
		}
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "fix the roof", Start: true, Content: said("It leaks.", "Slate.")})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}})
		b := h.acceptPrompt("bob")
		h.says(b.Content.Prompt, "# Facts\nf1 It leaks.\n# Decisions\nd1 Slate.\n") // of its sender
		h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{To: []string{"cyd"}, Content: said("Two beams are rotten.", "New beams.")})
		c := h.acceptPrompt("cyd")
		h.says(c.Content.Prompt, "# Facts\nf2 Two beams are rotten.\n(by ann:)\nf1 It leaks.\n# Decisions\nd2 New beams.\n(by ann:)\nd1 Slate.\n")
		none := 0
		h.send(h.agent("cyd"), c.Receipt, handoffs.SendInput{To: []string{"bob"}, Retries: &none, Content: envelopes.Content{
			Facts: []envelopes.Point{{ID: "f1", Text: "It leaks at the chimney."}}, Decisions: []envelopes.Point{{Text: "Lead.", Supersedes: "d1"}},
		}})
		h.reject("bob", h.wait("bob"), event.Overloaded)
		h.replay(tasks.ReplayInput{Task: h.inState(r.Task, event.Parked).ID, To: []string{"dan"}})
		d := h.acceptPrompt("dan")
		h.says(d.Content.Prompt, "# Facts\nf1 It leaks at the chimney.\n(f1 replaces what ann said)\n(by bob:)\nf2 Two beams", "# Decisions\nd3 Lead.\n(d3 replaces d1 by ann)\n(by bob:)\nd2 New beams.")
		if doc := packed(h, *d.Content); doc.KeyFacts[0].By != "bob" || doc.KeyFacts[1].By != "cyd" {
			h.Errorf("the envelope has %+v", doc.KeyFacts)
		}
	})
}

func TestTheSummaryOfAConversationIsShort(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob")
		for n := range 40 {
			h.say(h.agent("ann"), "roofs", conversations.AppendTurnInput{Text: fmt.Sprintf("%d: %s", n, strings.Repeat("The roof leaks in many places. ", 30))})
		}
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "fix the roof", Start: true, Conversation: "roofs"})
		send := func(summary string) error {
			_, err := call(h.agent("ann"), func(c caller.Caller) (taskstore.Receipt, error) {
				return h.app.Tasks.Send(ctx(h), c, handoffs.SendInput{Task: r.Task, Epoch: r.Epoch, To: []string{"bob"}, Content: envelopes.Content{Summary: summary}})
			})
			return err
		}
		must(h, "a long summary", send(strings.Repeat("x", 4001)), refusal.TooLarge, "4000 bytes", "4001", "facts and decisions")
		if err := send(""); err != nil {
			h.Fatal(err)
		}
		b := h.acceptPrompt("bob")
		shown := readPrompt(h, b.Content.Prompt).sections["Summary"]
		if n := len(packed(h, *b.Content).ConversationSummary); n == 0 || n > 4000 || shown == "" || len(shown) > 4400 { // with the indentation
			h.Errorf("the summary has %d bytes, and %d in the prompt", n, len(shown))
		}
	})
}
