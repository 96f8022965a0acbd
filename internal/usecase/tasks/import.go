package tasks

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/content/foreign"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// ImportInput makes a task from the handoff document of another system, or an envelope from another server.
type ImportInput struct {
	Document   json.RawMessage `json:"document" doc:"The document: a handoff document with an audit trail, a handoff context with facts and decisions, a memory envelope, or an envelope of this system, as it was exported, of any major that is known. Its format is told by its fields."`
	To         []string        `json:"to,omitempty" doc:"Agents to hand the task to at once, instead of the one that the document names."`
	Capability string          `json:"capability,omitempty" doc:"What the receiver must be able to do, instead of a name."`
	Start      bool            `json:"start,omitempty" doc:"The calling agent works on the task itself; it is handed to nobody."`
}

// ImportFormats lists the formats of documents that can be imported.
func ImportFormats() []foreign.Format { return foreign.Formats() }

// Imported is a receipt, and what became of the document's fields.
type Imported struct {
	taskstore.Receipt
	Format foreign.Format `json:"format"`
	// Notes name the fields that were not simply taken over, and say where they are now.
	Notes []foreign.Note `json:"notes"`
}

// Import makes a task from a document of another system. What the document says about the past is kept as claimed
// history; nothing in it becomes an entry of ours, and its sender is the caller.
func (ts *Tasks) Import(ctx context.Context, c caller.Caller, in *ImportInput) (Imported, error) {
	out, err := ts.importTask(ctx, c, *in)
	if err != nil {
		return Imported{}, ts.access.Refused(ctx, c.Workspace, c.Actor(), "import", "", err)
	}
	return out, nil
}

func (ts *Tasks) importTask(ctx context.Context, c caller.Caller, in ImportInput) (Imported, error) {
	if in.Start && (len(in.To) > 0 || in.Capability != "") {
		return Imported{}, refusal.New(refusal.Invalid, "leave one of the two out", "a task is started by its caller or handed to others, not both")
	}
	doc, notes, err := foreign.Decode(in.Document, ts.majors)
	if err != nil {
		return Imported{}, err
	}
	if no := event.CheckDeadline(doc.Deadline, ts.now()); no != nil {
		const field = "constraints.deadline" // the only one that is a task's
		notes = noted(notes, field, doc.Deadline.Format(time.RFC3339)+" is past, or too far ahead; the task has no deadline")
		doc.Deadline = time.Time{}
	}
	create := creation(doc)
	create.Start = in.Start
	to := in.To
	if len(to) == 0 && in.Capability == "" && !in.Start && doc.Target != "" {
		known, err := ts.known(ctx, c.Workspace, doc.Target)
		if err != nil {
			return Imported{}, err
		}
		if known {
			to = []string{doc.Target}
		}
	}
	if len(to) > 0 || in.Capability != "" {
		create.Send = &handoffs.SendInput{
			To: to, Capability: in.Capability, Reason: doc.Reason, Detail: doc.Detail, Pack: event.Pack{Tokens: doc.MaxTokens},
		}
	}
	notes = notUsed(notes, doc, in, to)
	request, err := c.Digest("import", in) // what the document becomes depends on who is there, and on the time
	if err != nil {
		return Imported{}, err
	}
	r, err := ts.create(ctx, c, &create, request)
	return Imported{Receipt: r, Format: doc.Format, Notes: append([]foreign.Note{}, notes...)}, err
}

// notUsed adds notes on what a document says about a handoff, as far as no handoff has it: the task stays with its caller, or goes to
// another receiver than the document names.
func notUsed(notes []foreign.Note, doc foreign.Task, in ImportInput, to []string) []foreign.Note {
	reason, receiver, tokens := doc.Format.HandoffFields()
	sent := len(to) > 0 || in.Capability != ""
	switch {
	case doc.Target == "" || slices.Contains(to, doc.Target):
	case in.Start:
		notes = noted(notes, receiver, "kept as claimed: the caller works on the task itself")
	case sent:
		notes = noted(notes, receiver, "kept as claimed: the call names another receiver")
	default:
		notes = noted(notes, receiver, "kept as claimed: there is no agent of that name here; the task waits to be handed off")
	}
	if !sent && (doc.Reason != "" || doc.Detail != "") {
		notes = noted(notes, reason, "kept as claimed: give it with the handoff; nobody receives the task yet")
	}
	if !sent && doc.MaxTokens > 0 {
		notes = noted(notes, tokens, "kept as a constraint: give it with the handoff, too; nobody receives the task yet")
	}
	return notes
}

// noted replaces the notes on a field by one.
func noted(notes []foreign.Note, field, text string) []foreign.Note {
	notes = slices.DeleteFunc(notes, func(n foreign.Note) bool { return n.Field == field })
	return append(notes, foreign.Note{Field: field, Text: text})
}

// known reports whether there is an agent of a name. What cannot be a name is nobody's.
func (ts *Tasks) known(ctx context.Context, workspace, name string) (bool, error) {
	if no := event.CheckAgent("an agent's name", name); no != nil {
		return false, nil //nolint:nilerr // that is the answer
	}
	s, err := ts.agentStore.Find(ctx, workspace, name, true)
	return s.Exists(), err
}

// creation is a foreign task in the terms of a new one of ours.
func creation(t foreign.Task) CreateInput {
	c := envelopes.Content{
		Ask: t.Content.Ask, State: t.Content.State, Summary: t.Content.Summary, Questions: t.Content.Questions,
		Confidence: t.Content.Confidence, Data: t.Content.Data, Facts: foreignPoints(t.Content.Facts),
		Decisions: foreignPoints(t.Content.Decisions), Recent: min(t.IncludeRecent, memories.MaxRecent),
		Notes: t.Content.Notes, Base: t.Envelope,
	}
	for _, id := range t.Memory {
		if t.Format == foreign.Envelope && event.CheckName("memory id", id) == nil && len(c.Memory) < memories.MaxRequested {
			c.Memory = append(c.Memory, envelopes.MemoryAsk{ID: id}) // of this server, or it becomes a gap like the others
		} else {
			c.Unresolved = append(c.Unresolved, id)
		}
	}
	for _, f := range t.Artifacts {
		c.Artifacts = append(c.Artifacts, envelopes.Artifact{Digest: f.Digest, Name: f.Name, MediaType: f.MediaType})
	}
	return CreateInput{
		Intent: t.Intent, Content: c, Priority: t.Priority, Deadline: t.Deadline, Timeouts: t.Timeouts,
		Constraints: slices.Clone(t.Constraints), Permissions: t.Permissions, Expected: t.Expected, Claimed: t.Claimed,
	}
}

func foreignPoints(list []foreign.Point) []envelopes.Point {
	out := make([]envelopes.Point, len(list))
	for i, p := range list {
		out[i] = envelopes.Point{ID: p.ID, Text: p.Text}
	}
	return out
}
