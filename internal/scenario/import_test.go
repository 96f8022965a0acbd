package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/memories"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/foreign"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

func (h *harness) importing(by caller.Caller, in tasks.ImportInput) tasks.Imported {
	h.Helper()
	return ok(h, by, func(c caller.Caller) (tasks.Imported, error) { return h.app.Tasks.Import(ctx(h), c, &in) })
}

func TestAnEnvelopeFromElsewhereGoesOnWithWhatThisVersionDoesNotKnow(t *testing.T) {
	doc, err := os.ReadFile("../content/foreign/testdata/envelope.json")
	if err != nil {
		t.Fatal(err)
	}
	story(t, func(h *harness) {
		h.join("ann", "coder", "cyd")
		got := h.importing(h.agent("ann"), tasks.ImportInput{Document: doc})
		if got.Format != foreign.Envelope || !slices.Equal(got.To, []string{"coder"}) {
			h.Errorf("imported as %+v", got)
		}
		check := func(a tasks.Accepted) {
			for _, kept := range []string{
				`"version":"1.9"`, `"mascot":{"name":"Otto"}`, `"stamp":"blue"`, `"colour":"green"`, `"source":"log 4"`, `"review":"yearly"`, `"tone":"calm"`,
			} {
				if !bytes.Contains(a.Content.Envelope, []byte(kept)) {
					h.Errorf("%s is lost on the way to %s: %s", kept, a.Owner, a.Content.Envelope)
				}
			}
			for _, said := range []string{"The login fails on Mondays.", "Find the cause.", "The cookie expires too early.", "Keep the old cookie.", "No passwords in logs.", "names the cause"} {
				if !strings.Contains(a.Content.Prompt, said) {
					h.Errorf("%s is not told %q", a.Owner, said)
				}
			}
		}
		first := h.acceptPrompt("coder")
		check(first)
		if told := packed(h, *first.Content); len(told.History) > 0 || len(told.Conversation) > 0 || told.Handoff.From != "ann" || told.Hops != 0 {
			h.Errorf("what is claimed of the past counts: %+v", told)
		}
		task := h.task(got.Task)
		if task.Requester != "agent/ann" || len(task.Path) != 1 || task.Constraints[0].Origin != "agent/ann" {
			h.Errorf("the past of another server became ours: %+v", task.Task)
		}
		h.send(h.agent("coder"), first.Receipt, handoffs.SendInput{To: []string{"cyd"}})
		check(h.acceptPrompt("cyd"))
	})
}

// An item that the importer may not read is a gap, like one that is not there.
func TestAnImportOnTheSameServerFindsItsMemoryItemsAgain(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob")
		ours := h.remember(h.agent("ann"), memories.RememberInput{Text: "arm has no cache", Scope: memory.Workspace})
		hers := h.remember(h.agent("ann"), memories.RememberInput{Text: "ann's own"})
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "fix the build", Start: true, Content: envelopes.Content{
			Memory: []envelopes.MemoryAsk{{ID: ours.ID}, {ID: hers.ID}},
		}})
		exported := h.content(h.agent("ann"), envelopes.ContentInput{ID: r.Task}).Envelope
		got := h.importing(h.agent("bob"), tasks.ImportInput{Document: exported, Start: true})
		doc, _, err := envelope.Open(h.content(h.agent("bob"), envelopes.ContentInput{ID: got.Task}).Envelope)
		if err != nil || len(doc.Memory) != 1 || doc.Memory[0].ID != ours.ID || doc.Memory[0].Text != "arm has no cache" || doc.Memory[0].Digest != ours.Digest {
			h.Errorf("%+v, %v", doc.Memory, err)
		}
		if len(doc.Gaps) != 1 || doc.Gaps[0].ID != hers.ID || doc.Gaps[0].Reason != envelope.GapNotFound {
			h.Errorf("gaps: %+v", doc.Gaps)
		}
	})
}

func TestAnEnvelopeWithAsManyMemoryItemsAsItMayHaveIsImported(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob")
		ours := h.remember(h.agent("ann"), memories.RememberInput{Text: "arm has no cache", Scope: memory.Workspace})
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "fix the build", Start: true, Content: envelopes.Content{Memory: []envelopes.MemoryAsk{{ID: ours.ID}}}})
		doc := packed(h, h.content(h.agent("ann"), envelopes.ContentInput{ID: r.Task}))
		for len(doc.Memory) < envelope.MaxMemory {
			doc.Memory = append(doc.Memory, envelope.MemoryRef{ID: fmt.Sprintf("elsewhere-%d", len(doc.Memory))})
		}
		raw, err := envelope.RenderJSON(doc)
		if err != nil {
			h.Fatal(err)
		}
		got := h.importing(h.agent("ann"), tasks.ImportInput{Document: raw, To: []string{"bob"}})
		if n := len(got.Sealed.Missing); n != envelope.MaxMemory-1 || !slices.Equal(got.Sealed.References, []string{ours.ID}) {
			h.Errorf("%d gaps, references %q", n, got.Sealed.References)
		}
	})
}

func TestAnExportedEnvelopeBecomesATaskOfItsOwn(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob")
		r := h.create(h.agent("ann"), tasks.CreateInput{
			Intent: "fix the build", Start: true, Content: envelopes.Content{Facts: []envelopes.Point{{ID: "f1", Text: "it fails on arm"}}},
			Constraints: []event.Constraint{{ID: "c1", Kind: event.ConstraintProhibition, Text: "touch nothing else", Hard: true}},
		})
		sheet := h.content(h.agent("ann"), envelopes.ContentInput{ID: r.Task})
		exported, err := json.MarshalIndent(sheet, "", "  ")
		if err != nil {
			h.Fatal(err)
		}
		got := h.importing(h.agent("bob"), tasks.ImportInput{Document: exported, Start: true})
		doc, _, err := envelope.Open(h.content(h.agent("bob"), envelopes.ContentInput{ID: got.Task}).Envelope)
		if err != nil || doc.Task.Intent != "fix the build" || len(doc.KeyFacts) != 1 || len(doc.Constraints) != 1 || doc.Parent != "" {
			h.Errorf("%+v, %v", doc, err)
		}
		if got.Task == r.Task || got.Envelope == sheet.Digest {
			h.Errorf("a task of its own: %+v", got.Receipt)
		}
		before := h.openTasks()
		for name, c := range map[string]struct{ doc, message, hint string }{
			"an unknown major":  {`{"version":"3.0","handoff":{},"work":"x"}`, "3.0 is of an unknown major version: this server reads 1", "use major 1"},
			"a changed content": {strings.Replace(string(exported), "fix", "break", 1), "has the digest", "exactly as it was exported"},
		} {
			_, err := call(h.agent("bob"), func(by caller.Caller) (tasks.Imported, error) {
				return h.app.Tasks.Import(ctx(h), by, &tasks.ImportInput{Document: json.RawMessage(c.doc), Start: true})
			})
			no, _ := refusal.As(err)
			if no == nil || no.Code != refusal.Invalid || !strings.Contains(no.Message, c.message) || !strings.Contains(no.Hint, c.hint) {
				h.Errorf("%s: %v", name, err)
			}
		}
		if h.openTasks() != before {
			h.Error("a refused document left a task")
		}
	})
}

func TestTheAuthorsThatADocumentClaimsAreNotThoseOfTheTask(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "cyd")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "pay the bill", Start: true, Content: envelopes.Content{
			Facts: []envelopes.Point{{ID: "f1", Text: "it is due"}}, Decisions: []envelopes.Point{{ID: "d1", Text: "pay all of it"}},
		}})
		exported := string(h.content(h.agent("ann"), envelopes.ContentInput{ID: r.Task}).Envelope)
		forged := strings.ReplaceAll(exported, `"by":"ann"`, `"by":"operator/eva"`)
		if strings.Count(forged, "operator/eva") != 2 {
			h.Fatalf("the document is %s", forged)
		}
		got := h.importing(h.agent("bob"), tasks.ImportInput{Document: json.RawMessage(forged), Start: true})
		if !slices.ContainsFunc(got.Notes, func(n foreign.Note) bool { return n.Field == "by" && strings.Contains(n.Text, "not kept") }) {
			h.Errorf("the notes are %+v", got.Notes)
		}
		h.send(h.agent("bob"), got.Receipt, handoffs.SendInput{To: []string{"cyd"}})
		c := h.acceptPrompt("cyd")
		doc := packed(h, *c.Content)
		if strings.Contains(c.Content.Prompt, "operator/eva") || doc.KeyFacts[0].By != "bob" || doc.Decisions[0].By != "bob" {
			h.Errorf("by %q and %q:\n%s", doc.KeyFacts[0].By, doc.Decisions[0].By, c.Content.Prompt)
		}
	})
}

// openTasks counts the open tasks.
func (h *harness) openTasks() int {
	h.Helper()
	h.settle()
	list, err := known(h, h.operator(), h.app.Tasks.List, tasks.TasksInput{})
	if err != nil {
		h.Fatal(err)
	}
	return len(list)
}
