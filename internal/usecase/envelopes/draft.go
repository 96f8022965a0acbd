package envelopes

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopestore"
)

// Compose seals the next envelope of a task, and returns it as it was sealed.
func (s *Sealer) Compose(ctx context.Context, by caller.Caller, t task.Task, h envelope.Header, c Content, now time.Time) (event.Sealed, envelope.Envelope, error) {
	doc, err := s.Draft(ctx, by, t, h, c, now)
	if err != nil {
		return event.Sealed{}, doc, err
	}
	return s.sealSource(doc, 0)
}

// headroom is how many bytes a source leaves free: a rendition of it may get constraints that were set since, and lists
// what it leaves out. So nobody can fill a task's envelopes until none can be sealed for a receiver. ownRoom of it is for what the
// server itself hands over, with the constraints of then and words of its own: a recovery tells what it has no place for, though
// the owner that was lost filled the envelope.
const (
	headroom = 192 << 10
	ownRoom  = 64 << 10
)

// sealSource seals what is handed over, and returns it as it was sealed. Where it is too large, what can be fetched does
// not come along: the raw conversation, then the texts of memory items, of pinned ones last. room is what it may
// have of the headroom.
func (s *Sealer) sealSource(doc envelope.Envelope, room int) (event.Sealed, envelope.Envelope, error) {
	most := envelope.MaxSize - headroom + room
	for {
		sealed, err := s.seal(doc)
		if err == nil && len(sealed.Bytes) > most {
			err = event.TooLarge("what is handed over", len(sealed.Bytes), most)
		}
		if refusal.CodeOf(err) != refusal.TooLarge || !lighten(&doc) {
			return sealed, doc, err
		}
	}
}

// lighten takes out the next of what can be fetched; false if nothing is left of that.
func lighten(doc *envelope.Envelope) bool {
	if n := len(doc.Conversation); n > 0 {
		doc.Drop(envelope.DroppedTurns, n, doc.Handoff.TaskID)
		doc.Conversation = nil
		return true
	}
	for _, pinned := range []bool{false, true} {
		out := false
		for i := range doc.Memory {
			if m := &doc.Memory[i]; m.Pinned == pinned && m.Text != "" {
				m.Text, out = "", true
			}
		}
		if out {
			return true
		}
	}
	return false
}

// imported makes entries of a document from elsewhere those of the principal that made a task of it, whatever author the document claims.
func imported(list []envelope.Item, t task.Task) {
	for i := range list {
		list[i].By = event.Bare(t.Source())
		list[i].WasBy, list[i].EarlierBy, list[i].EarlierMore, list[i].Ruled = "", nil, 0, ruled(list[i])
		list[i].Original, list[i].OriginalBy = "", ""
	}
}

// Draft is the next envelope of a task: what its newest one says, brought up to date with the task, with what the sender
// adds, and with what the sender asks for from memory, conversation and artifacts. cold leaves out everything but the
// description.
func (s *Sealer) Draft(ctx context.Context, by caller.Caller, t task.Task, h envelope.Header, c Content, now time.Time) (envelope.Envelope, error) {
	doc, err := s.base(ctx, by.Workspace, t, c.Base)
	if err == nil && c.Again != "" {
		doc, c, err = s.again(ctx, by.Workspace, t, h, doc, c)
	}
	if err != nil {
		return doc, err
	}
	h.Extra = doc.Handoff.Extra
	h.TaskID, h.Dependencies = t.ID, nil
	if h.Permissions == nil {
		h.Permissions = t.Permissions
	}
	for _, d := range t.Dependencies {
		h.Dependencies = append(h.Dependencies, d.Task)
	}
	h.Notes, h.From = c.Notes, event.Bare(h.From)
	if h.PartOf, h.ResultTo = partOf(t); h.PartOf != "" {
		h.PartFor = doc.Handoff.PartFor
	}
	doc.Handoff, doc.CreatedAt, doc.Priority, doc.Hops = h, now, t.Priority, t.Used.Owners()
	doc.Task.Intent, doc.Task.Deadline = t.Intent, t.Deadline
	if !by.Trace.IsZero() { // otherwise the trace context of the task stays
		doc.Trace = by.Trace
	}
	if h.Kind == event.Cold {
		doc, c = cold(doc, t, c, author(by, t))
	}
	had, err := s.had(ctx, by.Workspace, t, c)
	if err := cmp.Or(err, c.checkAsk(rules(author(by, t), t)), c.checkIDs(doc, had, author(by, t))); err != nil {
		return envelope.Envelope{}, err
	}
	before := doc
	c.addTo(&doc, had, author(by, t), rules(author(by, t), t))
	doc.TextBy.Notes = c.NotesBy
	doc.TextBy = doc.AuthorsBeside()
	if err := checkShare(&before, &doc, author(by, t)); err != nil {
		return envelope.Envelope{}, err
	}
	if h.Kind != event.Cold {
		told(&doc, t)
	}
	steps := make([]envelope.Step, len(c.Steps))
	for i, step := range c.Steps {
		steps[i] = envelope.Step{Time: now, Agent: author(by, t), Action: step.Action, Detail: step.Detail, Tool: step.Tool}
	}
	tell(&doc, t, steps...)
	doc.Constraints = constraints(t, doc.Constraints)
	doc.ExpectedOutput = expected(t.Expected, doc.ExpectedOutput)
	if h.Kind == event.Cold {
		return doc, nil
	}
	err = s.gather(ctx, by, t, c, &doc)
	return doc, err
}

// had are the facts and decisions that envelopes of the task had, for a sender that adds some.
func (s *Sealer) had(ctx context.Context, workspace string, t task.Task, c Content) (envelopestore.Points, error) {
	if len(c.Facts)+len(c.Decisions) == 0 {
		return nil, nil
	}
	return s.store.Points(ctx, workspace, t.ID, t.Envelope)
}

// base is where the next envelope starts from: the last one, or, of a task that has none yet, one from elsewhere.
func (s *Sealer) base(ctx context.Context, workspace string, t task.Task, elsewhere []byte) (envelope.Envelope, error) {
	switch {
	case t.Envelope == "" && len(elsewhere) > 0:
		doc, err := envelope.Decode(elsewhere)
		imported(doc.KeyFacts, t)
		imported(doc.Decisions, t)
		doc = next(doc, "")
		doc.TextBy = envelope.Authors{} // as of the facts
		return doc, err
	case t.Envelope == "":
		return envelope.Envelope{}, nil
	}
	doc, err := s.store.Open(ctx, workspace, t.ID, t.Envelope)
	if err != nil {
		return envelope.Envelope{}, err
	}
	doc, err = s.ownersOf(ctx, workspace, t, doc)
	return next(doc, t.Envelope), err
}

// ownersOf is the newest envelope of a task, without what was said to the reader of a share, or to those that do parts of the task, alone: what is asked of the
// owner, and its own state, data, summary and open questions come back. The facts, decisions, steps and files that came with it stay: they are the task's.
func (s *Sealer) ownersOf(ctx context.Context, workspace string, t task.Task, doc envelope.Envelope) (envelope.Envelope, error) {
	if t.AskedIn == t.Envelope {
		return doc, nil
	}
	var own envelope.Envelope
	if t.AskedIn != "" {
		var err error
		if own, err = s.store.Open(ctx, workspace, t.ID, t.AskedIn); err != nil {
			return doc, err
		}
	}
	doc.Task.Ask, doc.Task.State, doc.Task.Data = own.Task.Ask, own.Task.State, own.Task.Data
	doc.ConversationSummary, doc.OpenQuestions, doc.TextBy = own.ConversationSummary, own.OpenQuestions, own.Authors()
	doc.Confidence, doc.ExpiresAt = own.Confidence, own.ExpiresAt
	return doc, nil
}

// next is the envelope that follows doc, before it has a sender: it names the authors of all texts. A reference that could not be resolved stays named
// until it is.
func next(doc envelope.Envelope, digest string) envelope.Envelope {
	gaps, authors := slices.Clone(doc.Gaps), doc.Authors()
	if conversation.Condensed(doc.ConversationSummary) { // nobody wrote it
		authors.Summary = ""
	}
	doc = doc.Next(digest)
	doc.Gaps, doc.TextBy = gaps, authors
	return doc
}

// ComposeChild seals a child's first envelope: what its parent's envelope says, with the child's own intent, asking
// for the child's result. Its parent digest is the envelope that the spawn sealed.
func (s *Sealer) ComposeChild(ctx context.Context, workspace string, t, parent task.Task, ev event.Spawned, h envelope.Header, now time.Time) (event.Sealed, error) {
	from := parent
	from.Envelope, from.AskedIn = ev.Envelope, ev.Envelope
	doc, err := s.base(ctx, workspace, from, nil)
	if err == nil {
		doc, err = s.childOf(ctx, workspace, doc, t, parent, ev, h, now)
	}
	if err != nil {
		return event.Sealed{}, err
	}
	sealed, _, err := s.sealSource(doc, ownRoom)
	sealed.Trace = cmp.Or(parent.Trace, sealed.Trace) // the steps of all parts are in one trace
	sealed.Parent = ""                                // of the task's own chain it is the first; the document names the parent's
	return sealed, err
}

// DraftChild is what [Sealer.ComposeChild] will seal, after a spawn that seals doc under a digest.
func (s *Sealer) DraftChild(ctx context.Context, workspace string, doc envelope.Envelope, digest string, t, parent task.Task, ev event.Spawned, h envelope.Header, now time.Time) (
	envelope.Envelope, error,
) {
	return s.childOf(ctx, workspace, next(doc, digest), t, parent, ev, h, now)
}

// childOf makes the first envelope of a child of that which follows its parent's.
func (s *Sealer) childOf(ctx context.Context, workspace string, doc envelope.Envelope, t, parent task.Task, ev event.Spawned, h envelope.Header, now time.Time) (
	envelope.Envelope, error,
) {
	h.Extra = doc.Handoff.Extra
	h.TaskID, h.From, h.Permissions, h.Notes = t.ID, event.Bare(ev.From), t.Permissions, doc.Handoff.Notes
	h.By = doc.Handoff.By
	h.PartOf, h.ResultTo = partOf(t)
	doc.Handoff, doc.CreatedAt, doc.Priority, doc.Hops = h, now, t.Priority, t.Used.Owners()
	if t.Intent != parent.Intent {
		doc.Handoff.PartFor, doc.Task.State = larger(parent.Intent, doc.Task.State)
	}
	doc.Task.Intent, doc.Task.Deadline = t.Intent, t.Deadline
	doc.TextBy = doc.AuthorsBeside()
	doc.Constraints = constraints(t, doc.Constraints)
	doc.ExpectedOutput = expected(t.Expected, doc.ExpectedOutput)
	present, gone, err := s.memories.Refresh(ctx, workspace, doc.Memory)
	if err != nil {
		return doc, err
	}
	before := doc.Gaps
	doc.Memory, doc.Gaps = present, gone
	doc.Gaps = gaps(before, &doc, t)
	return doc, nil
}

// larger returns what a child is for, the beginning of the intent of the larger task, and the current state of the child: that which its sender
// gave, and more of the intent where the beginning is not all of it.
func larger(intent, state string) (beginning, full string) {
	if len(intent) <= envelope.MaxPartFor {
		return intent, state
	}
	const more = "…"
	beginning = refusal.Clip(intent, envelope.MaxPartFor-len(more)) + more
	part := "Part of a larger task: " + refusal.Clip(intent, 2000)
	if state == "" || len(state)+len(part)+2 > envelope.MaxText {
		return beginning, cmp.Or(state, part)
	}
	return beginning, state + "\n\n" + part
}

// partOf is the task that t is a part of, and the principal that delegated it and waits for its result. Both are empty if there is none.
func partOf(t task.Task) (parent, resultTo string) {
	if t.Parent.Task != "" && t.Parent.Await {
		resultTo = event.Bare(t.Requester)
	}
	return t.Parent.Task, resultTo
}

// Said is what a task's newest envelope says, with what a sender adds. Without a new confidence, the last one stays.
func (s *Sealer) Said(ctx context.Context, workspace string, t task.Task, c Content) (envelope.Envelope, error) {
	doc, err := s.base(ctx, workspace, t, c.Base)
	confidence := doc.Confidence
	c.addTo(&doc, nil, event.Bare(t.Source()), false)
	if doc.Confidence == nil {
		doc.Confidence = confidence
	}
	return doc, err
}

// Seconds is a timeout as envelopes have it.
func Seconds(d event.Duration) int {
	return min(int((time.Duration(d)+time.Second-1)/time.Second), envelope.MaxTimeoutSeconds)
}
