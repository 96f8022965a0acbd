//go:build slow || outside

package scenario

import (
	"sync"
	"testing"

	"github.com/trapezehq/trapeze/internal/content/foreign"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// atOnce reads the same content several times at once, and returns what all of them got, which must be the same.
func (h *harness) atOnce(by caller.Caller, id string) envelopes.Sheet {
	h.Helper()
	sheets := make([]envelopes.Sheet, readers)
	errs := make([]error, readers)
	var all sync.WaitGroup
	for n := range readers {
		all.Go(func() {
			sheets[n], errs[n] = call(by, func(c caller.Caller) (envelopes.Sheet, error) {
				return h.app.Envelopes.Fetch(ctx(h), c, envelopes.ContentInput{ID: id})
			})
		})
	}
	all.Wait()
	for n := range readers {
		if errs[n] != nil {
			h.Fatal(errs[n])
		}
		if sheets[n].Digest != sheets[0].Digest || sheets[n].Source == "" {
			h.Errorf("reader %d was given %s of %q, reader 0 %s", n, sheets[n].Digest, sheets[n].Source, sheets[0].Digest)
		}
	}
	return sheets[0]
}

func TestConcurrentReadsGetTheSameContentAndThatIsRecorded(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann")
		h.register("bob", agents.AgentSpec{ContextWindow: 2000})
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "the build is red", Start: true, Content: much()})
		h.share(h.agent("ann"), r, tasks.ShareInput{To: "bob", Content: much()})
		shared := h.waitFor("bob", func(i view.Item) bool { return i.Type == view.ItemShare })
		got := h.atOnce(h.agent("bob"), shared.ID)
		if task := h.task(r.Task); task.Shares[0].Rendition != got.Digest {
			h.Errorf("bob was given %s, and %s is recorded", got.Digest, task.Shares[0].Rendition)
		}
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}})
		offer := h.waitFor("bob", func(i view.Item) bool { return i.Type == view.ItemOffer })
		got = h.atOnce(h.agent("bob"), offer.ID)
		if task := h.task(r.Task); task.Handoff.Rendition != got.Digest {
			h.Errorf("bob was given %s, and %s is recorded", got.Digest, task.Handoff.Rendition)
		}
		if b := h.acceptPrompt("bob"); b.Given != got.Digest {
			h.Errorf("bob read %s, and accepted %s", got.Digest, b.Given)
		}
	})
}

func TestAnImportThatIsRepeatedIsTheSameImportAfterNewAgentsHaveJoined(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann")
		key := h.agent("ann").WithKey("the only import")
		in := tasks.ImportInput{Document: []byte(`{
			"task_id": "t-1", "from_agent": "triage", "to_agent": "bob", "handoff_reason": "timeout", "task_context": {"summary": "the build is red"},
			"audit_trail": []
		}`)}
		first := ok(h, key, func(caller.Caller) (tasks.Imported, error) { return h.app.Tasks.Import(ctx(h), key, &in) })
		if first.Format != foreign.HandoffDocument || len(first.To) != 0 {
			h.Fatalf("nobody of that name is there: %+v", first)
		}
		h.join("bob")
		again := ok(h, key, func(caller.Caller) (tasks.Imported, error) { return h.app.Tasks.Import(ctx(h), key, &in) })
		if !again.Repeat || again.Task != first.Task || len(again.To) != 0 {
			h.Errorf("the first: %+v, and again: %+v", first.Receipt, again.Receipt)
		}
	})
}
