package scenario

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/history"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func TestTheRecordIsCorrectedByAddingToIt(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "count", Start: true})
		p := h.progress("ann", r, "found 12")
		ok(h, h.agent("ann"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Annotate(ctx(h), c, tasks.AnnotateInput{Task: r.Task, Entry: uint64(p.Position), Note: "it was 13"})
		})
		tr := ok(h, h.as(identity.Auditor, "kim"), func(c caller.Caller) (*view.Trail, error) { return h.app.History.Trail(ctx(h), c, r.Task) })
		last := tr.Entries[len(tr.Entries)-1]
		if last.Event != "entry-annotated" || last.Agent != "ann" || !strings.Contains(string(last.Details), "it was 13") {
			h.Errorf("the last entry: %+v", last)
		}
		if before := tr.Entries[len(tr.Entries)-2]; !strings.Contains(string(before.Details), "found 12") {
			h.Errorf("the entry that was corrected: %+v", before)
		}
	})
}

func TestExportsAreTheWholeTrail(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "=cmd", Start: true})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}})
		h.complete("bob", h.accept("bob", h.wait("bob")).Receipt, "done")
		h.settle()
		export := func(c caller.Caller, in history.ExportInput) []byte {
			return ok(h, c, func(c caller.Caller) ([]byte, error) {
				var b bytes.Buffer
				err := h.app.History.Export(ctx(h), c, in, &b)
				return b.Bytes(), err
			})
		}
		auditor := h.as(identity.Auditor, "kim")
		var doc view.Trail
		if err := json.Unmarshal(export(auditor, history.ExportInput{Task: r.Task, Format: view.FormatJSON}), &doc); err != nil {
			h.Fatal(err)
		}
		one := doc.Handoffs[0]
		if one.From != "ann" || one.To != "bob" || one.Status != event.Transferred {
			h.Errorf("the audit document: %+v", one)
		}
		rows, err := csv.NewReader(bytes.NewReader(export(auditor, history.ExportInput{Task: r.Task, Format: view.FormatCSV}))).ReadAll()
		if err != nil || len(rows) != len(doc.Entries)+1 {
			h.Errorf("%d rows for %d events, %v", len(rows), len(doc.Entries), err)
		}
		lines := bytes.Count(export(auditor, history.ExportInput{Format: view.FormatLines}), []byte("\n"))
		if lines <= len(doc.Entries) {
			h.Errorf("%d lines of everything, %d events of the task", lines, len(doc.Entries))
		}
		_, err = call(h.agent("ann"), func(c caller.Caller) (bool, error) {
			return true, h.app.History.Export(ctx(h), c, history.ExportInput{Format: view.FormatLines}, &bytes.Buffer{})
		})
		if refusal.CodeOf(err) != refusal.NotPermitted {
			h.Errorf("an agent exported everything: %v", err)
		}
	})
}

func TestReadsExportsAndRefusalsAreRecorded(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "eve")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "secret", Start: true})
		h.task(r.Task)
		for range 100 {
			if _, err := known(h, h.agent("eve"), h.app.Tasks.Show, r.Task); err == nil {
				h.Fatal("eve read the task")
			}
		}
		found := h.recorded()
		if found["content-read by operator/ann"] == 0 {
			h.Errorf("the operator's read is not recorded: %v", found)
		}
		if n := found["attempt-refused by agent/eve"]; n < 10 || n > 40 {
			h.Errorf("%d of 100 refusals recorded: the rate limit lets the first through and counts the rest", n)
		}
	})
}

func TestALookIntoAnInboxIsRecorded(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob")
		look := func(by caller.Caller) {
			h.Helper()
			if _, err := call(by, func(c caller.Caller) (view.Inbox, error) {
				return h.app.Tasks.Inbox(ctx(h), c, tasks.InboxInput{Agent: "bob", Peek: true})
			}); err != nil {
				h.Fatal(err)
			}
		}
		look(h.operator())
		if n := h.recorded()["content-read by operator/ann"]; n != 0 {
			h.Errorf("a look into an empty inbox: %d reads", n)
		}
		h.create(h.agent("ann"), tasks.CreateInput{Intent: "secret", Send: &handoffs.SendInput{To: []string{"bob"}}})
		h.wait("bob")
		look(h.operator())
		look(h.agent("bob"))
		if found := h.recorded(); found["content-read by operator/ann"] != 1 || found["content-read by agent/bob"] != 1 {
			h.Errorf("the operator's look into it, and its owner's: %v", found)
		}
	})
}
