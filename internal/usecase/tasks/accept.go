package tasks

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// AcceptInput takes an offer.
type AcceptInput struct {
	Handoff string `json:"handoff,omitempty" doc:"Id of the handoff."`
	Offer   int    `json:"offer,omitempty" minimum:"0" doc:"Number of the offer; one that is over is refused. Left out: the newest."`
	Render  bool   `json:"render,omitempty" doc:"Also give the envelope as a prompt."`
}

// Accepted is a receipt and the content that comes with ownership. With an explicit confirm the receiver gets the
// content when the source has let go.
type Accepted struct {
	taskstore.Receipt
	Content *Sheet `json:"content,omitempty"`
}

// Sheet is an envelope as its receiver reads it.
type Sheet struct {
	Digest string `json:"digest"`
	// Source is the digest of what was sent, where this is a rendition of it that was packed for its receiver. What the
	// rendition lists as left out stands there.
	Source   string          `json:"source,omitempty"`
	Envelope json.RawMessage `json:"envelope"`
	Prompt   string          `json:"prompt,omitempty"`
	// Copies are the envelope in each of the schema's majors that were asked for.
	Copies []Copy `json:"copies,omitempty"`
}

// Copy is an envelope in one major of its schema.
type Copy struct {
	Major    int             `json:"major"`
	Of       string          `json:"of"` // digest of the envelope that it was converted from
	Envelope json.RawMessage `json:"envelope"`
	Lost     []string        `json:"lost,omitempty"` // fields that its major has no place for, as paths
}

// Accept takes an open offer: the second message of the handshake. With automatic confirm the caller owns the task
// when this returns, and has its content. The entry of the acceptance is the record that the content was read.
func (a *App) Accept(ctx context.Context, c Caller, in AcceptInput) (Accepted, error) {
	taskID, n, err := event.ParseHandoffID(in.Handoff)
	if err != nil {
		return Accepted{}, a.access.Refused(ctx, c.Workspace, c.Actor(), "accept", in.Handoff, err)
	}
	if c.Agent() == "" {
		err := refusal.New(refusal.NotPermitted, "use the token of the agent that has the offer", "%s is not an agent", c.Principal)
		return Accepted{}, a.access.Refused(ctx, c.Workspace, c.Actor(), "accept", in.Handoff, err)
	}
	r, err := a.tasks.ChangeWith(ctx, c, "accept", taskID, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		return a.decideAccept(ctx, c, t, handoff.Accept{By: c.Principal, Handoff: n, Offer: in.Offer}, now)
	})
	if err != nil || r.Stage != event.Transferred {
		return Accepted{Receipt: r}, err
	}
	sheet, err := a.sheet(ctx, c.Workspace, taskID, r.Given, in.Render)
	if err != nil { // the task is the caller's all the same: it can fetch the content by itself
		return Accepted{Receipt: r}, nil //nolint:nilerr // see above
	}
	return Accepted{Receipt: r, Content: sheet}, nil
}

// decideAccept accepts and, where that brings the content, seals what the receiver gets of it in the same entry.
func (a *App) decideAccept(ctx context.Context, c Caller, t task.Task, cmd handoff.Accept, now time.Time) ([]event.Event, error) {
	events, err := handoff.Decide(t, cmd, now)
	if err != nil || t.Handoff.Confirm == event.ConfirmExplicit {
		return events, err
	}
	rendered, err := a.rendered(ctx, c.Workspace, t, c.Agent())
	if err != nil || rendered == nil {
		return events, err
	}
	more, err := handoff.Decide(task.FoldAll(t, events), handoff.Render{By: c.Principal, Handoff: t.Handoff.N, Agent: c.Agent(), Rendition: *rendered}, now)
	return append(events, more...), err
}

func (a *App) sheet(ctx context.Context, workspace, task, digest string, render bool) (*Sheet, error) {
	b, err := a.sealer.Bytes(ctx, workspace, task, digest)
	if err != nil {
		return nil, err
	}
	s := &Sheet{Digest: digest, Envelope: b}
	packed := bytes.Contains(b, []byte(`"packing":`)) // or an agent's data says so, which costs a look
	if !render && !packed {
		return s, nil
	}
	doc, _, err := envelope.Open(b)
	if err != nil {
		return nil, err
	}
	if !doc.Packing.IsZero() {
		s.Source = doc.Parent
	}
	if render {
		s.Prompt = envelope.Render(doc)
	}
	return s, nil
}

// ContentInput says which content to read, and how.
type ContentInput struct {
	ID     string // of a task, of a handoff, or of what was shared
	Render bool   // also as a prompt
	Source bool   // what was sent, rather than what was packed for its receiver
	Majors []int  // also in each of these majors of the schema, for readers that have not moved to ours yet, or are ahead
}

// Content gives the content of a handoff, or of what was shared, to whom it is meant for: the source, the receiver
// once the task has moved, the approver, and, unless it is a claim, the receiver of the open offer. It is on record
// before it is answered.
func (a *App) Content(ctx context.Context, c Caller, in ContentInput) (Sheet, error) {
	s, err := a.contentOf(ctx, c, in)
	if err != nil {
		return Sheet{}, a.access.Refused(ctx, c.Workspace, c.Actor(), "content", in.ID, err)
	}
	return s, nil
}

func (a *App) contentOf(ctx context.Context, c Caller, in ContentInput) (Sheet, error) {
	if task, n, err := event.ParseShareID(in.ID); err == nil {
		return a.readShare(ctx, c, task, n, in)
	}
	taskID, n := in.ID, 0
	if event.CheckTaskID(in.ID) != nil {
		var err error
		if taskID, n, err = event.ParseHandoffID(in.ID); err != nil {
			return Sheet{}, err
		}
	}
	t, err := a.tasks.For(ctx, c, taskID)
	if err != nil {
		return Sheet{}, err
	}
	digest, err := a.contentFor(ctx, c, t.Task, n, in.Source)
	if err != nil {
		return Sheet{}, err
	}
	return a.readSheet(ctx, c, taskID, digest, in)
}

// readSheet gives a sealed envelope to who may have it, once that is on record.
func (a *App) readSheet(ctx context.Context, c Caller, task, digest string, in ContentInput) (Sheet, error) {
	if err := a.access.Read(ctx, c.Workspace, c.Actor(), task, in.ID, digest); err != nil {
		return Sheet{}, err
	}
	sheet, err := a.sheet(ctx, c.Workspace, task, digest, in.Render)
	if err != nil {
		return Sheet{}, err
	}
	sheet.Copies, err = a.copies(sheet, in.Majors)
	return *sheet, err
}

// copies are an envelope in several majors, side by side: what readers get while they move from one to the next.
func (a *App) copies(s *Sheet, majors []int) ([]Copy, error) {
	if len(majors) == 0 {
		return nil, nil
	}
	found, err := a.majors.Emit(envelope.Sealed{Digest: s.Digest, Bytes: s.Envelope}, majors...)
	if err != nil {
		return nil, err
	}
	copies := make([]Copy, len(found))
	for i, k := range found {
		copies[i] = Copy{Major: k.Major, Of: k.Of, Envelope: k.Bytes, Lost: k.Lost}
	}
	return copies, nil
}

// contentFor is the digest of what the caller may read of a task's n-th handoff, or of the task itself where n is 0.
func (a *App) contentFor(ctx context.Context, c Caller, t task.Task, n int, source bool) (string, error) {
	h := t.Handoff
	if n > 0 && (h == nil || n > h.N) {
		return "", refusal.New(refusal.NotFound, "look at the task for its handoffs", "task %s has no handoff %d", t.ID, n)
	}
	if n > 0 && n < h.N {
		return "", refusal.New(refusal.Expired, "fetch the newest, or export the trail for what went before",
			"handoff %s is over; %s is the newest", event.HandoffID(t.ID, n), h.ID(t.ID))
	}
	digest := t.Envelope
	if h != nil && !h.Stage.Final() {
		digest = h.Envelope
	}
	if digest == "" {
		return "", refusal.New(refusal.NotFound, "nothing to fetch yet", "task %s has no envelope", t.ID)
	}
	offered := h != nil && h.Stage == event.Offered && !h.Claim && slices.Contains(h.To, c.Agent())
	switch holds := h != nil && h.Stage == event.Transferred && t.Owner == c.Agent() && h.Envelope == t.Envelope; {
	case offered && t.Requester != c.String(), holds && !source:
		return a.given(ctx, c, t)
	case offered, taskstore.Whole(c, t):
		return digest, nil
	}
	return "", refusal.New(refusal.NotPermitted, "accept the offer first", "the content of task %s is for its holder", t.ID)
}

// given is the digest of what the receiver of the newest handoff gets of it. Where that has to be packed, it is now,
// and what was sealed is on record.
func (a *App) given(ctx context.Context, c Caller, t task.Task) (string, error) {
	if t.Handoff.Rendition != "" {
		return t.Handoff.Rendition, nil
	}
	n, offer := t.Handoff.N, t.Handoff.Offer
	out, err := a.tasks.Do(ctx, c.WithKey("").Write(""), taskstore.StreamOf(c.Workspace, t.ID), func(t task.Task, now time.Time) ([]event.Event, error) {
		if h := t.Handoff; h == nil || h.N != n || h.Offer != offer {
			return nil, refusal.New(refusal.Expired, "check your inbox for what is open", "handoff %s has moved on since", event.HandoffID(t.ID, n))
		}
		rendered, err := a.rendered(ctx, c.Workspace, t, c.Agent())
		if err != nil || rendered == nil {
			return nil, err
		}
		return handoff.Decide(t, handoff.Render{By: c.Principal, Handoff: n, Agent: c.Agent(), Rendition: *rendered}, now)
	})
	if err != nil {
		return "", err
	}
	h := out.State.Handoff // who else asked at the same time may have had it packed
	return cmp.Or(h.Rendition, h.Envelope), nil
}

// rendered is what accepting or reading an offer adds: the receiver's rendition of what is offered, if it gets one.
func (a *App) rendered(ctx context.Context, workspace string, t task.Task, agent string) (*event.Rendered, error) {
	h := t.Handoff
	if h.Rendition != "" {
		return nil, nil
	}
	r, err := a.sealer.Rendition(ctx, workspace, t, h.Envelope, agent, h.Pack, h.Amended)
	if no, ok := refusal.As(err); ok && no.Code == refusal.Budget {
		return nil, refusal.New(refusal.Budget, "reject the offer as not_capable, so that it goes to the next candidate; or ask an operator to give you a larger context window",
			"what must survive of handoff %s does not fit you: %s", h.ID(t.ID), no.Message).With("needed", no.Details["needed"])
	}
	return r, err
}
