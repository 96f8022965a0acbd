//go:build slow || outside

package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func TestNoAgentOfATreeAddsAsItsRequester(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "cyd", "dan")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "write", Start: true})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}, Kind: event.Delegation, Content: envelopes.Content{Ask: "a part"}})
		item := h.wait("bob")
		h.set("ann", taskstore.Receipt{Task: item.Task}, rule("anns", "One page.")) // of the child, before bob has it
		b := h.accept("bob", item)
		h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{To: []string{"cyd"}, Kind: event.Delegation, Content: envelopes.Content{Ask: "a part"}})
		item = h.wait("cyd")
		h.set("bob", taskstore.Receipt{Task: item.Task}, rule("bobs", "In rhyme.")) // whose requester is bob
		p := readPrompt(h, h.acceptPrompt("cyd").Content.Prompt)
		if p.entries("Constraints")["anns"] == "" || p.entries("Added by agents")["bobs"] == "" || p.entries("Constraints")["bobs"] != "" {
			h.Errorf("cyd reads\n%s", p.text)
		}
		c := h.task(item.Task)
		d := h.delegated("cyd", taskstore.Receipt{Task: c.ID, Epoch: c.Epoch}, "dan")
		p = readPrompt(h, d.Content.Prompt)
		if p.entries("Constraints")["anns"] == "" || p.entries("Added by agents")["bobs"] == "" {
			h.Errorf("dan reads\n%s", p.text)
		}
		if err := h.lifting(h.agent("bob"), c.ID, "bobs"); err != nil {
			h.Error(err)
		}
		h.bound(d.Task, "bobs", false)
	})
}

func TestWhatAgentsAddIsBoundedInTheChildrenToo(t *testing.T) {
	story(t, func(h *harness) {
		h.join("bob", "cyd")
		h.create(h.operator(), tasks.CreateInput{Intent: "write", Send: &handoffs.SendInput{To: []string{"bob"}}})
		b := h.accept("bob", h.wait("bob"))
		h.set("bob", b.Receipt, rule("first", "In rhyme."))
		c := h.delegated("bob", b.Receipt, "cyd")
		for i := 0; ; i++ {
			err := h.setting(h.agent("cyd"), c.Receipt, rule(fmt.Sprintf("c%02dx", i), strings.Repeat("no more than this. ", 4)))
			if refusal.CodeOf(err) == refusal.Limit {
				break
			}
			if err != nil || i > event.MaxAdded {
				h.Fatalf("constraint %d: %v", i, err)
			}
		}
		_ = h.setting(h.operator(), taskstore.Receipt{Task: b.Task}, rule("boss", strings.Repeat("All of it. ", 60))) // does not count
		h.bound(c.Task, "boss", true)
		h.set("bob", b.Receipt, rule("last", strings.Repeat("no more than this. ", 4)))
		h.parked(c.Task, "what agents added would be") // a child does not go on without a rule of its parent
	})
}
