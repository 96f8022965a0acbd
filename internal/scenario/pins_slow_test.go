//go:build slow || outside

package scenario

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// itemText is the text of a private item of about so many bytes.
func itemText(word string, bytes int) memories.RememberInput {
	return memories.RememberInput{Text: strings.Repeat(word, max(1, bytes/len(word)))}
}

// crammed is the most that one sender can put into an envelope: small parts with long names, each with its reasoning, and data.
func crammed(data int) envelopes.Content {
	c := envelopes.Content{Data: words(data)}
	for i := range envelope.MaxItems {
		id := fmt.Sprintf("%d-%s", i, strings.Repeat("n", 55))
		c.Facts = append(c.Facts, envelopes.Point{ID: id, Text: "x", Reasoning: strings.Repeat("y", 96)})
	}
	return c
}

func TestNobodyCanFillATasksEnvelopesUntilNoneCanBeGiven(t *testing.T) {
	bubble(t, sound(), func(h *harness) {
		h.join("ann", "bob", "cyd")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "full", Start: true})
		try := func(data int) error {
			_, err := call(h.agent("ann"), func(c caller.Caller) (taskstore.Receipt, error) {
				return h.app.Tasks.Send(ctx(h), c, handoffs.SendInput{Task: r.Task, Epoch: r.Epoch, To: []string{"bob"}, Content: crammed(data)})
			})
			return err
		}
		must(h, "more than there is room for", try(760<<10), refusal.TooLarge, "bytes")
		if err := try(700 << 10); err != nil {
			h.Fatal(err)
		}
		for i := range 20 { // after it was sealed
			h.constrain(h.operator(), r.Task, event.Constraint{ID: fmt.Sprintf("k%d", i), Kind: event.ConstraintSecurity, Text: fmt.Sprint(i, strings.Repeat("!", 1500))})
		}
		b := h.acceptPrompt("bob")
		if doc := packed(h, *b.Content); len(doc.Constraints) != 20 || len(doc.KeyFacts) != envelope.MaxItems {
			h.Errorf("bob gets %d constraints and %d facts", len(doc.Constraints), len(doc.KeyFacts))
		}
		h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{To: []string{"cyd"}, Content: envelopes.Content{Data: json.RawMessage(`{}`), Decisions: []envelopes.Point{{Text: "go on"}}}})
		h.acceptPrompt("cyd")
	})
}

func TestARecoveryOfAFullEnvelopeTellsWhatItsOwnerReported(t *testing.T) {
	bubble(t, sound(), func(h *harness) {
		h.join("ann", "mal", "cyd")
		h.register("bob", agents.AgentSpec{Fallbacks: []string{"cyd"}})
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "full", Start: true, Timeouts: event.Timeouts{Lease: event.Duration(time.Hour)}})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"mal"}})
		m := h.accept("mal", h.wait("mal")).Receipt
		fill := func(state int) error {
			_, err := call(h.agent("mal"), func(c caller.Caller) (taskstore.Receipt, error) {
				return h.app.Tasks.Send(ctx(h), c, handoffs.SendInput{
					Task: r.Task, Epoch: m.Epoch, To: []string{"bob"}, Content: envelopes.Content{Data: words(700 << 10), State: strings.Repeat("x", state)},
				})
			})
			return err
		}
		n := 140_000
		for fill(n) != nil {
			n -= 500
		}
		b := h.accept("bob", h.wait("bob")).Receipt
		for i := range 5 {
			h.progress("bob", b, fmt.Sprint("note ", i, strings.Repeat(" and more", 60)))
		}
		time.Sleep(time.Hour + time.Minute)
		c := h.acceptPrompt("cyd")
		doc, told := packed(h, *c.Content), 0
		for _, s := range doc.History {
			if s.Agent == "bob" && strings.HasPrefix(s.Detail, "note ") {
				told++
			}
		}
		if doc.Handoff.Reason != event.ReasonRecovery || told != 5 {
			h.Errorf("cyd is given the handoff %+v with the history %+v", doc.Handoff, doc.History)
		}
		send := handoffs.SendInput{Task: r.Task, Epoch: c.Epoch, To: []string{"mal"}}
		_, err := call(h.agent("cyd"), func(c caller.Caller) (taskstore.Receipt, error) { return h.app.Tasks.Send(ctx(h), c, send) })
		must(h, "as full as it was", err, refusal.TooLarge, "bytes") // an agent has less room than the server, and can make some
		h.send(h.agent("cyd"), c.Receipt, handoffs.SendInput{To: []string{"mal"}, Content: envelopes.Content{State: "half done"}})
		h.acceptPrompt("mal")
	})
}

func TestWhatCanBeFetchedStaysOutOfAnEnvelopeThatWouldBeTooLarge(t *testing.T) {
	bubble(t, sound(), func(h *harness) {
		h.join("ann", "bob")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "large", Start: true})
		x := h.remember(h.agent("ann"), itemText("long ", 180<<10))
		pinned := itemText("pinned ", 1<<10)
		pinned.Pinned = true
		y := h.remember(h.agent("ann"), pinned)
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}, Content: envelopes.Content{
			Data: words(700 << 10), Memory: []envelopes.MemoryAsk{{ID: x.ID}, {ID: y.ID}},
		}})
		doc := packed(h, *h.acceptPrompt("bob").Content)
		if len(doc.Memory) != 2 || doc.Memory[0].ID != x.ID || doc.Memory[0].Text != "" || doc.Memory[1].Text == "" || doc.Packing.Completeness != 1 {
			h.Errorf("memory: %.300v, %+v", doc.Memory, doc.Packing)
		}
	})
}
