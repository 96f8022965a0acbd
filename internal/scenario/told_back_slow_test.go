//go:build slow || outside

package scenario

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func TestATaskThatIsReplayedWhileItDependsOnOthersHasNoClockUntilTheyHaveEnded(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob")
		first := h.create(h.agent("ann"), tasks.CreateInput{Intent: "measure", Start: true, Timeouts: event.Timeouts{Lease: event.Duration(5 * time.Hour)}})
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "build", Dependencies: []string{first.Task}, Deadline: h.now().Add(time.Hour)})
		h.inState(r.Task, event.Parked)
		h.replay(tasks.ReplayInput{Task: r.Task, Home: true})
		if now := h.task(r.Task); now.State != event.Pending || !now.TakeUpBy.IsZero() {
			h.Fatalf("%s, to be taken up by %v, though nobody can start it", now.State, now.TakeUpBy)
		}
		now := h.task(first.Task)
		h.complete("ann", taskstore.Receipt{Task: now.ID, Epoch: now.Epoch}, "Nine.")
		met := h.until(r.Task, "free to start", func(t taskstore.Task) bool { return len(t.Unmet()) == 0 })
		if met.TakeUpBy.IsZero() {
			h.Error("nobody has to take it up now")
		}
		time.Sleep(time.Until(met.TakeUpBy) - time.Minute)
		h.parked(r.Task, "ann requested it and did not take it up in time")
	})
}

func TestAReplayTellsAnOwnerThatWasToldToStop(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "build", Deadline: h.now().Add(time.Hour), Send: &handoffs.SendInput{To: []string{"bob"}}})
		h.accept("bob", h.wait("bob"))
		h.inState(r.Task, event.Parked)
		if item := h.wait("bob"); item.Type == view.ItemResumed {
			h.Fatalf("bob is told to go on while the task is parked: %+v", item)
		}
		h.replay(tasks.ReplayInput{Task: r.Task, Home: true})
		if item := h.waitFor("bob", func(i view.Item) bool { return i.Type == view.ItemResumed }); item.Task != r.Task {
			h.Errorf("bob is told %+v", item)
		}
	})
}

func TestAnItemThatAnOperatorPinnedRanksWithThoseOfOperatorsUntilItsAuthorRewritesIt(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann")
		h.register("bob", agents.AgentSpec{ContextWindow: 900})
		h.register("cyd", agents.AgentSpec{ContextWindow: 900})
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "fix the roof", Start: true})
		long := strings.Repeat("It rains a lot in these months. ", 11)
		own := h.remember(h.agent("ann"), memories.RememberInput{Scope: memory.Task, Task: r.Task, Title: "weather", Text: long + "MARK-one"}) // as long as the budget has room for one of
		h.pin(h.operator(), own.ID)
		for i := range 3 { // shorter: else they would come first
			h.remember(h.agent("ann"), memories.RememberInput{Scope: memory.Task, Task: r.Task, Text: fmt.Sprintf("MARK-short%d %s", i, strings.Repeat("It rains. ", 28)), Pinned: true, Importance: 0.85})
		}
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}})
		b := h.acceptPrompt("bob")
		h.says(b.Content.Prompt, "MARK-one")
		if ref := packed(h, *b.Content).Memory[0]; ref.Author != "ann" || ref.PinnedBy != "operator/ann" {
			h.Errorf("the envelope has %+v", ref)
		}
		ok(h, h.agent("ann"), func(c caller.Caller) (memories.Item, error) {
			return h.app.Memories.Revise(ctx(h), c, memories.ReviseInput{ID: own.ID, Text: long + "MARK-two"})
		})
		h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{To: []string{"cyd"}, Content: envelopes.Content{Decisions: []envelopes.Point{{Text: "go on"}}}})
		c := h.acceptPrompt("cyd")
		if strings.Contains(c.Content.Prompt, "MARK-one") || strings.Contains(c.Content.Prompt, "MARK-two") || !strings.Contains(c.Content.Prompt, "MARK-short") {
			h.Errorf("ann's new text has the rank of the text that the operator pinned:\n%s", c.Content.Prompt)
		}
	})
}

func TestWhatIsImportantAndLeftOutIsNamedOneByOne(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann")
		h.register("bob", agents.AgentSpec{ContextWindow: 600})
		content := envelopes.Content{}
		for i := range 60 {
			p := envelopes.Point{Text: fmt.Sprintf("Beam %d: %s", i, strings.Repeat("it is old and should be replaced soon. ", 3))}
			if i%20 == 7 {
				p.Importance, p.Text = 0.9, p.Text+strings.Repeat("It carries the chimney. ", 40)
			}
			content.Facts = append(content.Facts, p)
		}
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "fix the roof", Start: true, Content: content})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}})
		b := h.acceptPrompt("bob")
		h.says(b.Content.Prompt, "important fact", ": f8 f28 f48\n")
		for _, o := range packed(h, *b.Content).Omissions {
			if o.Important != (o.ID == "f8" || o.ID == "f28" || o.ID == "f48") {
				h.Errorf("the envelope lists %+v", o)
			}
		}
	})
}
