package scenario

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/archive"
	"github.com/trapezehq/trapeze/internal/docket"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/identity"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/registry"
	"github.com/trapezehq/trapeze/internal/roster"
	"github.com/trapezehq/trapeze/internal/view"
)

func TestSharingGivesTheContextAndNotTheTask(t *testing.T) {
	story(t, func(h *house) {
		h.join("ann", "bob")
		r := h.create(h.agent("ann"), app.CreateInput{Intent: "write", Start: true, Content: app.Content{Data: json.RawMessage(`{"draft":7}`)}})
		ok(h, h.agent("ann"), func(c app.Caller) (docket.Receipt, error) {
			return h.app.Share(ctx(h), c, app.ShareInput{Task: r.Task, Epoch: r.Epoch, To: "bob", Detail: "for your information"})
		})
		item := h.wait("bob")
		if item.Type != view.ItemShare {
			h.Fatalf("bob got %+v", item)
		}
		sheet := ok(h, h.agent("bob"), func(c app.Caller) (app.Sheet, error) {
			return h.app.Content(ctx(h), c, app.ContentInput{ID: item.ID, Render: true})
		})
		if !strings.Contains(string(sheet.Envelope), `{"draft":7}`) || !strings.Contains(sheet.Prompt, "write") {
			h.Errorf("bob reads %s", sheet.Envelope)
		}
		h.empty("bob")
		if now := h.task(r.Task); now.Owner != "ann" || now.Epoch != r.Epoch {
			h.Errorf("sharing moved the task: %+v", now.Task)
		}
	})
}

func TestPermissionsOnlyNarrowOnTheWay(t *testing.T) {
	story(t, func(h *house) {
		h.join("ann", "bob", "cyd")
		r := h.create(h.agent("ann"), app.CreateInput{Intent: "ledger", Permissions: []string{"read", "write"}, Start: true})
		h.send(h.agent("ann"), r, app.SendInput{To: []string{"bob"}, Permissions: []string{"read"}})
		b := h.accept("bob", h.wait("bob"))
		_, err := call(h.agent("bob"), func(c app.Caller) (docket.Receipt, error) {
			return h.app.Send(ctx(h), c, app.SendInput{Task: b.Task, Epoch: b.Epoch, To: []string{"cyd"}, Permissions: []string{"read", "write"}})
		})
		if refusal.CodeOf(err) != refusal.NotPermitted {
			h.Errorf("bob passed on what it does not have: %v", err)
		}
		h.send(h.agent("bob"), b.Receipt, app.SendInput{To: []string{"cyd"}, Permissions: []string{}})
		c := h.accept("cyd", h.wait("cyd"))
		if p := h.task(c.Task).Permissions; p == nil || len(p) != 0 {
			h.Errorf("cyd has %v: an empty list must stay empty, and not become unrestricted", p)
		}
	})
}

func TestABudgetIsSharedWithChildrenAndEndsTheTaskWhenSpent(t *testing.T) {
	story(t, func(h *house) {
		h.join("lead", "ann", "bob")
		r := h.create(h.agent("lead"), app.CreateInput{Intent: "frugal", Budget: fact.Budget{Tokens: 1000}, Start: true})
		r = h.send(h.agent("lead"), r, app.SendInput{To: []string{"ann", "bob"}, Kind: fact.Broadcast, FanOut: true})
		for _, n := range []string{"ann", "bob"} {
			a := h.accept(n, h.wait(n))
			if got := h.task(a.Task).Budget.Tokens; got != 500 {
				h.Errorf("%s may spend %d", n, got)
			}
			ok(h, h.agent(n), func(c app.Caller) (docket.Receipt, error) {
				return h.app.Complete(ctx(h), c, app.CompleteInput{Task: a.Task, Epoch: a.Epoch, Usage: fact.Budget{Tokens: 200}})
			})
		}
		parent := h.inState(r.Task, fact.Executing)
		if parent.Spent.Tokens != 400 || parent.Reserved.Tokens != 0 {
			h.Fatalf("spent %+v, reserved %+v", parent.Spent, parent.Reserved)
		}
		last := ok(h, h.agent("lead"), func(c app.Caller) (docket.Receipt, error) {
			return h.app.Progress(ctx(h), c, app.ProgressInput{Task: r.Task, Epoch: r.Epoch, Note: "thinking", Usage: fact.Budget{Tokens: 700}})
		})
		if last.State != fact.Parked || last.Parked.Cause != fact.ParkBudget {
			h.Errorf("overspent: %+v", last)
		}
	})
}

func TestAConstraintIsInEveryLaterEnvelopeChildrenIncluded(t *testing.T) {
	story(t, func(h *house) {
		h.join("ann", "bob", "cyd")
		r := h.create(h.operator(), app.CreateInput{Intent: "careful", Constraints: []fact.Constraint{
			{ID: "no-prod", Kind: fact.ConstraintProhibition, Text: "never touch production", Hard: true},
		}, Send: &app.SendInput{To: []string{"ann"}}})
		a := h.accept("ann", h.wait("ann"))
		_, err := call(h.agent("ann"), func(c app.Caller) (docket.Receipt, error) {
			return h.app.Lift(ctx(h), c, app.LiftInput{Task: r.Task, ID: "no-prod", Why: "in my way"})
		})
		if refusal.CodeOf(err) != refusal.NotPermitted {
			h.Errorf("ann lifted the operator's constraint: %v", err)
		}
		h.send(h.agent("ann"), a.Receipt, app.SendInput{To: []string{"bob"}, Kind: fact.Cold})
		b := h.accept("bob", h.wait("bob"))
		h.send(h.agent("bob"), b.Receipt, app.SendInput{To: []string{"cyd"}, Kind: fact.Delegation, Content: app.Content{Ask: "a part"}})
		c := h.accept("cyd", h.wait("cyd"))
		for who, got := range map[string]app.Accepted{"bob, cold": b, "cyd, a child": c} {
			if !strings.Contains(string(got.Content.Envelope), "never touch production") {
				h.Errorf("%s does not see the constraint: %s", who, got.Content.Envelope)
			}
		}
	})
}

func TestAnAgentThatIsNotHeardGoesOfflineAndComesBack(t *testing.T) {
	story(t, func(h *house) {
		h.register("ann", roster.AgentSpec{PresenceTTL: fact.Duration(30 * time.Second)})
		h.readiness("ann", registry.Offline)
		if err := h.app.Beat(ctx(h), h.agent("ann")); err != nil && refusal.CodeOf(err) != refusal.Unknown {
			h.Fatal(err)
		}
		h.readiness("ann", registry.Ready)
	})
}

// readiness waits for an agent to be as it should be, and beats for it only once.
func (h *house) readiness(name string, want registry.Readiness) {
	h.Helper()
	for range 1200 {
		a, err := h.app.Agent(ctx(h), h.operator(), name)
		if err != nil {
			h.Fatal(err)
		}
		if a.Readiness == want {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	h.Fatalf("%s never came to be %s", name, want)
}

func TestTheRecordIsCorrectedByAddingToIt(t *testing.T) {
	story(t, func(h *house) {
		h.join("ann")
		r := h.create(h.agent("ann"), app.CreateInput{Intent: "count", Start: true})
		p := h.progress("ann", r, "found 12")
		ok(h, h.agent("ann"), func(c app.Caller) (docket.Receipt, error) {
			return h.app.Annotate(ctx(h), c, app.AnnotateInput{Task: r.Task, Entry: uint64(p.Position), Note: "it was 13"})
		})
		tr := ok(h, h.as(identity.Auditor, "kim"), func(c app.Caller) (*view.Trail, error) { return h.app.Trail(ctx(h), c, r.Task) })
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
	story(t, func(h *house) {
		h.join("ann", "bob")
		r := h.create(h.agent("ann"), app.CreateInput{Intent: "=cmd", Start: true})
		h.send(h.agent("ann"), r, app.SendInput{To: []string{"bob"}})
		h.complete("bob", h.accept("bob", h.wait("bob")).Receipt, "done")
		h.settle()
		export := func(c app.Caller, in archive.ExportInput) []byte {
			return ok(h, c, func(c app.Caller) ([]byte, error) {
				var b bytes.Buffer
				err := h.app.Export(ctx(h), c, in, &b)
				return b.Bytes(), err
			})
		}
		auditor := h.as(identity.Auditor, "kim")
		var doc view.Trail
		if err := json.Unmarshal(export(auditor, archive.ExportInput{Task: r.Task, Format: view.FormatJSON}), &doc); err != nil {
			h.Fatal(err)
		}
		one := doc.Handoffs[0]
		if one.From != "ann" || one.To != "bob" || one.Status != fact.Transferred {
			h.Errorf("the audit document: %+v", one)
		}
		rows, err := csv.NewReader(bytes.NewReader(export(auditor, archive.ExportInput{Task: r.Task, Format: view.FormatCSV}))).ReadAll()
		if err != nil || len(rows) != len(doc.Entries)+1 {
			h.Errorf("%d rows for %d events, %v", len(rows), len(doc.Entries), err)
		}
		lines := bytes.Count(export(auditor, archive.ExportInput{Format: view.FormatLines}), []byte("\n"))
		if lines <= len(doc.Entries) {
			h.Errorf("%d lines of everything, %d events of the task", lines, len(doc.Entries))
		}
		_, err = call(h.agent("ann"), func(c app.Caller) (bool, error) {
			return true, h.app.Export(ctx(h), c, archive.ExportInput{Format: view.FormatLines}, &bytes.Buffer{})
		})
		if refusal.CodeOf(err) != refusal.NotPermitted {
			h.Errorf("an agent exported everything: %v", err)
		}
	})
}
