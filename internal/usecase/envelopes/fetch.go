package envelopes

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/fetchcall"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Via is how a reader came, for the form of the calls that a text names.
type Via = fetchcall.Via

// Vias lists every way.
func Vias() []Via { return fetchcall.Vias.Values() }

// ContentInput says which content to read, and how.
type ContentInput struct {
	ID     string        // of a task, of a handoff, or of what was shared
	Render bool          // also as a prompt
	Via    fetchcall.Via // how the reader came, for the prompt
	Source bool          // what was sent, rather than what was packed for its receiver
	Majors []int         // also in each of these majors of the schema, for readers that have not moved to ours yet, or are ahead
}

// Fetch gives the content of a handoff, or of what was shared, to whom it is meant for: the source, the receiver
// once the task has moved, the approver, and, unless it is a claim, the receiver of the open offer. Of a handoff that is not the newest,
// it is given to those alone who may read anything. It is recorded before it is answered.
func (es *Envelopes) Fetch(ctx context.Context, c caller.Caller, in ContentInput) (Sheet, error) {
	s, err := es.fetch(ctx, c, in)
	if err != nil {
		return Sheet{}, es.access.Refused(ctx, c.Workspace, c.Actor(), "content", in.ID, err)
	}
	return s, nil
}

func (es *Envelopes) fetch(ctx context.Context, c caller.Caller, in ContentInput) (Sheet, error) {
	if task, n, err := event.ParseShareID(in.ID); err == nil {
		return es.readShare(ctx, c, task, n, in)
	}
	taskID, n := in.ID, 0
	if event.CheckTaskID(in.ID) != nil {
		var err error
		if taskID, n, err = event.ParseHandoffID(in.ID); err != nil {
			return Sheet{}, err
		}
	}
	t, err := es.tasks.For(ctx, c, taskID)
	if err != nil {
		return Sheet{}, err
	}
	ref, err := es.contentFor(ctx, c, t.Task, n, in.Source)
	if err != nil {
		return Sheet{}, err
	}
	if openOffer(t.Task, c) {
		in.Via = fetchcall.Offered
	}
	if !in.Source && beforehand(t.Task, c, n) {
		return es.readAhead(ctx, c, t.Task, in)
	}
	return es.readSheet(ctx, c, taskID, ref, in)
}

// openOffer reports whether the caller is a receiver of the task's open offer, who may read what is offered and nothing else of the task.
func openOffer(t task.Task, c caller.Caller) bool {
	h := t.Handoff
	return h != nil && h.Stage == event.Offered && !h.Claim && slices.Contains(h.To, c.Agent()) && t.Requester != c.String()
}

// readSheet gives a sealed envelope to who may have it, once that is recorded.
func (es *Envelopes) readSheet(ctx context.Context, c caller.Caller, task string, r Ref, in ContentInput) (Sheet, error) {
	return es.recorded(ctx, c, task, r.Digest, in, func() (*Sheet, error) {
		return es.sealer.Sheet(ctx, c.Workspace, task, r, in.Render, in.Via)
	})
}

// readAhead gives what the receiver of the handoff in flight would be given now to who may read what was sent, once that is recorded.
func (es *Envelopes) readAhead(ctx context.Context, c caller.Caller, t task.Task, in ContentInput) (Sheet, error) {
	return es.recorded(ctx, c, t.ID, t.Handoff.Envelope, in, func() (*Sheet, error) {
		return es.sealer.Ahead(ctx, c.Workspace, t, in.Render, in.Via)
	})
}

// recorded gives a sheet of the envelope with a digest, once that is recorded.
func (es *Envelopes) recorded(ctx context.Context, c caller.Caller, task, digest string, in ContentInput, read func() (*Sheet, error)) (Sheet, error) {
	if err := es.access.Read(ctx, c.Workspace, c.Actor(), task, in.ID, digest); err != nil {
		return Sheet{}, err
	}
	sheet, err := read()
	if err != nil {
		return Sheet{}, err
	}
	sheet.Copies, err = es.copies(sheet, in.Majors)
	return *sheet, err
}

// copies are an envelope in several majors, side by side: what readers get while they move from one to the next.
func (es *Envelopes) copies(s *Sheet, majors []int) ([]Copy, error) {
	if len(majors) == 0 {
		return nil, nil
	}
	found, err := es.majors.Emit(envelope.Sealed{Digest: s.Digest, Bytes: s.Envelope}, majors...)
	if err != nil {
		return nil, err
	}
	copies := make([]Copy, len(found))
	for i, k := range found {
		copies[i] = Copy{Major: k.Major, Of: k.Of, Envelope: k.Bytes, Lost: k.Lost}
	}
	return copies, nil
}

// contentFor is what the caller may read of a task's n-th handoff, or of the task itself where n is 0.
func (es *Envelopes) contentFor(ctx context.Context, c caller.Caller, t task.Task, n int, source bool) (Ref, error) {
	h := t.Handoff
	if n > 0 && (h == nil || n > h.N) {
		return Ref{}, refusal.New(refusal.NotFound, "[fetch the task](task show) to see its handoffs", "task %s has no handoff %d", t.ID, n)
	}
	if n > 0 && n < h.N && identity.May(c.Role, identity.ReadAny) {
		return es.earlier(ctx, c, t.ID, n, source)
	}
	if n > 0 && n < h.N {
		return Ref{}, refusal.New(refusal.Expired, "[fetch the newest](envelope show), or [export the trail](audit show) for what went before",
			"handoff %s is over; %s is the newest", event.HandoffID(t.ID, n), h.ID(t.ID))
	}
	digest := task.OwnEnvelope(&t)
	if h != nil && (!h.Stage.Final() || n > 0 && h.Stage != event.Transferred) {
		digest = h.Envelope
	}
	if digest == "" {
		return Ref{}, refusal.New(refusal.NotFound, "nothing to fetch yet; what is shared has ids of its own", "task %s has no envelope", t.ID)
	}
	switch holds := h != nil && h.Stage == event.Transferred && t.Owner == c.Agent() && h.Envelope == digest; {
	case openOffer(t, c), holds && !source:
		return es.given(ctx, c, t)
	case n > 0 && h.Rendition != "" && !source && identity.May(c.Role, identity.ReadAny): // people look at what its receiver read
		return Given(h.Rendition, h.Envelope), nil
	case taskstore.VisibilityFor(c, t).Work:
		return Ref{Digest: digest}, nil
	}
	return Ref{}, refusal.New(refusal.NotPermitted, "[accept the offer](accept) first", "the content of task %s is for its holder", t.ID)
}

// earlier is what the receiver of an earlier handoff of a task read, or what was sent, for those who may read anything.
func (es *Envelopes) earlier(ctx context.Context, c caller.Caller, id string, n int, source bool) (Ref, error) {
	sent, packed, err := es.sealer.store.OfHandoff(ctx, c.Workspace, id, n)
	switch {
	case err != nil:
		return Ref{}, err
	case packed != "" && !source:
		return Given(packed, sent), nil
	case sent == "":
		return Ref{}, refusal.New(refusal.NotFound, "[fetch the task](task show) to see its handoffs", "handoff %s has no envelope", event.HandoffID(id, n))
	}
	return Ref{Digest: sent}, nil
}

// given is what the receiver of the newest handoff gets of it. Where that has to be packed, it is now,
// and what was sealed is recorded.
func (es *Envelopes) given(ctx context.Context, c caller.Caller, t task.Task) (Ref, error) {
	if t.Handoff.Rendition != "" {
		return Given(t.Handoff.Rendition, t.Handoff.Envelope), nil
	}
	n, offer := t.Handoff.N, t.Handoff.Offer
	out, err := es.tasks.Do(ledger.ForRead(ctx), c.WithKey("").Write(""), taskstore.StreamOf(c.Workspace, t.ID), func(t task.Task, now time.Time) ([]event.Event, error) {
		if h := t.Handoff; h == nil || h.N != n || h.Offer != offer {
			return nil, refusal.New(refusal.Expired, "[check your inbox](inbox) for what is open", "handoff %s has moved on since", event.HandoffID(t.ID, n))
		}
		rendered, err := es.sealer.Offered(ctx, c.Workspace, t, c.Agent())
		if err != nil || rendered == nil {
			return nil, err
		}
		return handoff.Decide(t, handoff.Render{By: c.Principal, Handoff: n, Agent: c.Agent(), Rendition: *rendered}, now)
	})
	if err != nil {
		return Ref{}, err
	}
	h := out.State.Handoff // who else asked at the same time may have had it packed
	return Given(cmp.Or(h.Rendition, h.Envelope), h.Envelope), nil
}
