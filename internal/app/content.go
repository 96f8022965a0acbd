package app

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/trapezehq/trapeze/internal/envelope"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/handoff"
	"github.com/trapezehq/trapeze/internal/ledger"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/stream"
)

// Content is what a sender puts into an envelope. What the task knows already (intent, constraints, history,
// permissions) comes along by itself; lists are added to those of the envelope before, by id.
type Content struct {
	Ask        string          `json:"ask,omitempty" doc:"What the receiver must accomplish."`
	State      string          `json:"current_state,omitempty" doc:"Where the work stands now."`
	Summary    string          `json:"conversation_summary,omitempty" doc:"What was said so far, condensed."`
	Facts      []Point         `json:"key_facts,omitempty" doc:"What is known. Facts of earlier envelopes stay unless superseded."`
	Decisions  []Point         `json:"decisions,omitempty" doc:"What was decided."`
	Questions  []string        `json:"open_questions,omitempty" doc:"What is still open; replaces the list of the envelope before."`
	Data       json.RawMessage `json:"data,omitempty" doc:"Task context, any JSON; replaces that of the envelope before."`
	Confidence *float64        `json:"confidence,omitempty" minimum:"0" maximum:"1" doc:"How sure the sender is of its work."`
	Notes      string          `json:"notes,omitempty" doc:"Anything else for the receiver."`
}

// Point is one fact or decision. Without an id it gets one.
type Point struct {
	ID         string `json:"id,omitempty"`
	Text       string `json:"text"`
	Supersedes string `json:"supersedes,omitempty" doc:"Id of the earlier point that this one replaces."`
}

func (c Content) isZero() bool {
	return c.Ask == "" && c.State == "" && c.Summary == "" && len(c.Facts) == 0 && len(c.Decisions) == 0 &&
		c.Questions == nil && len(c.Data) == 0 && c.Confidence == nil && c.Notes == ""
}

// hasWork reports whether the content brings something that makes a revisit work rather than a loop.
func (c Content) hasWork() bool { return len(c.Decisions) > 0 }

// checkData refuses task data that no envelope could carry, before a task is made of it.
func (c Content) checkData() error {
	if err := fact.CheckJSON("the data", c.Data, fact.MaxData); err != nil {
		return err
	}
	if len(c.Data) > 0 {
		if _, err := envelope.Canonical(c.Data); err != nil {
			return err
		}
	}
	return nil
}

// compose seals the next envelope of a task: what its newest one says, brought up to date with the task and with
// what the sender adds. cold leaves out everything but the description.
func (a *App) compose(ctx context.Context, workspace string, t handoff.Task, h envelope.Header, c Content, now time.Time) (fact.Sealed, error) {
	doc, err := a.base(ctx, workspace, t)
	if err != nil {
		return fact.Sealed{}, err
	}
	h.TaskID, h.Dependencies = t.ID, nil
	if h.Permissions == nil {
		h.Permissions = t.Permissions
	}
	for _, d := range t.Dependencies {
		h.Dependencies = append(h.Dependencies, d.Task)
	}
	h.Notes = c.Notes
	doc.Handoff, doc.CreatedAt, doc.Priority, doc.Hops = h, now, t.Priority, t.Used.Hops
	doc.Task.Intent = t.Intent
	if h.Kind == fact.Cold {
		doc = envelope.Envelope{
			Parent: doc.Parent, Handoff: h, CreatedAt: now, Priority: t.Priority, Hops: t.Used.Hops,
			Task: envelope.Task{Intent: t.Intent},
		}
		c = Content{Ask: c.Ask, Notes: c.Notes}
	}
	c.addTo(&doc)
	if t.Progress != "" && h.Kind != fact.Cold {
		step := envelope.Step{Agent: t.Owner, Action: "progress", Detail: t.Progress}
		if n := len(doc.History); n == 0 || doc.History[n-1].Detail != step.Detail {
			doc.History = append(doc.History, step)
		}
	}
	if n := len(doc.History); n > envelope.MaxHistory {
		doc.History = doc.History[n-envelope.MaxHistory:]
	}
	doc.Constraints = constraints(t.Constraints)
	doc.ExpectedOutput = expected(t.Expected)
	return a.seal(doc)
}

// base is where the next envelope starts from.
func (a *App) base(ctx context.Context, workspace string, t handoff.Task) (envelope.Envelope, error) {
	if t.Envelope == "" {
		return envelope.Envelope{}, nil
	}
	b, err := a.envelope(ctx, workspace, t.ID, t.Envelope)
	if err != nil {
		return envelope.Envelope{}, err
	}
	doc, _, err := envelope.Open(b)
	if err != nil {
		return envelope.Envelope{}, err
	}
	return doc.Next(t.Envelope), nil
}

// composeChild seals a child's first envelope: what its parent's envelope says, with the child's own intent, asking
// for the child's result. Its parent digest is the envelope that the spawn sealed.
func (a *App) composeChild(ctx context.Context, workspace string, t, parent handoff.Task, ev fact.Spawned, h envelope.Header, now time.Time) (fact.Sealed, error) {
	from := parent
	from.Envelope = ev.Envelope
	doc, err := a.base(ctx, workspace, from)
	if err != nil {
		return fact.Sealed{}, err
	}
	h.TaskID, h.From, h.Permissions = t.ID, ev.From, t.Permissions
	doc.Handoff, doc.CreatedAt, doc.Priority, doc.Hops = h, now, t.Priority, t.Used.Hops
	if t.Intent != parent.Intent {
		doc.Task.State = "Part of a larger task: " + refusal.Clip(parent.Intent, 2000)
	}
	doc.Task.Intent = t.Intent
	doc.Constraints = constraints(t.Constraints)
	doc.ExpectedOutput = expected(t.Expected)
	sealed, err := a.seal(doc)
	sealed.Parent = "" // of the task's own chain it is the first; the document names the parent's
	return sealed, err
}

func (c Content) addTo(doc *envelope.Envelope) {
	set := func(field *string, v string) {
		if v != "" {
			*field = v
		}
	}
	set(&doc.Task.Ask, c.Ask)
	set(&doc.Task.State, c.State)
	set(&doc.ConversationSummary, c.Summary)
	doc.KeyFacts = points(doc.KeyFacts, c.Facts, "f")
	doc.Decisions = points(doc.Decisions, c.Decisions, "d")
	if c.Questions != nil {
		doc.OpenQuestions = c.Questions
	}
	if len(c.Data) > 0 {
		doc.Task.Data = c.Data
	}
	doc.Confidence = c.Confidence
}

// points adds to a list by id: the same id replaces, and so does naming what is superseded.
func points(list []envelope.Item, add []Point, letter string) []envelope.Item {
	list = slices.Clone(list)
	for _, p := range add {
		if p.ID == "" {
			for n := len(list) + 1; p.ID == "" || slices.ContainsFunc(list, func(i envelope.Item) bool { return i.ID == p.ID }); n++ {
				p.ID = letter + strconv.Itoa(n)
			}
		}
		list = slices.DeleteFunc(list, func(i envelope.Item) bool {
			return i.ID == p.ID || p.Supersedes != "" && i.ID == p.Supersedes
		})
		list = append(list, envelope.Item{ID: p.ID, Text: p.Text, Supersedes: p.Supersedes})
	}
	return list
}

func constraints(cs []fact.Constraint) []envelope.Constraint {
	out := make([]envelope.Constraint, len(cs))
	for i, c := range cs {
		out[i] = envelope.Constraint{ID: c.ID, Kind: c.Kind, Text: c.Text, Hard: c.Hard, Origin: c.Origin, Max: c.Max, Allow: c.Allow}
	}
	return out
}

func expected(e fact.Expected) envelope.Expected {
	return envelope.Expected{Format: e.Format, MaxBytes: e.MaxBytes, Criteria: e.Criteria, Schema: e.Schema}
}

// seal makes the envelope immutable and remembers it: it is about to be read.
func (a *App) seal(doc envelope.Envelope) (fact.Sealed, error) {
	salt := make([]byte, 16)
	if err := a.Random(salt); err != nil {
		return fact.Sealed{}, err
	}
	s, err := envelope.Seal(doc, salt)
	if err != nil {
		return fact.Sealed{}, err
	}
	a.envelopes.Put(s.Digest, s.Bytes)
	return fact.Sealed{Digest: s.Digest, Parent: doc.Parent, Bytes: s.Bytes}, nil
}

// envelope is the bytes of a task's sealed envelope.
func (a *App) envelope(ctx context.Context, workspace, task, digest string) ([]byte, error) {
	if b, ok := a.envelopes.Get(digest); ok {
		return b, nil
	}
	var found []byte
	err := stream.Each(ctx, a.ledger, taskStream(workspace, task), func(e ledger.Entry) error {
		for _, ev := range e.Events {
			if ev.Name != (fact.Sealed{}).EventName() {
				continue
			}
			d, err := a.tasks.Codec().Decode(ev)
			if err != nil {
				return err
			}
			if s, ok := d.(fact.Sealed); ok && s.Digest == digest {
				found = s.Bytes
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, refusal.New(refusal.NotFound, "look at the task for its envelopes", "task %s has no envelope %.80s", task, digest)
	}
	a.envelopes.Put(digest, found)
	return found, nil
}
