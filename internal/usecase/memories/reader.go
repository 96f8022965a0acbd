package memories

import (
	"cmp"
	"context"
	"slices"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// maxHeld bounds how many of its tasks are looked into for what their envelopes grant to an agent that names none.
const maxHeld = 20

// readerOf is the caller with what it has to do with one item; and, where that does not let it read the item, with what
// the envelopes of its tasks grant it. via is the task that grants, if one does.
func (st *Store) readerOf(ctx context.Context, c caller.Caller, s memory.State, task string) (r memory.Reader, via string, err error) {
	r = memory.Reader{Principal: c.Principal}
	if !s.Exists() || memory.MayRead(s, r) {
		return r, "", nil
	}
	if err := taskstore.Join(ctx, st.tasks, c.Workspace, &r, s.Task); err != nil || memory.MayRead(s, r) || c.Agent() == "" {
		return r, "", err
	}
	if task != "" {
		found, err := st.grantedBy(ctx, c, &r, s.ID, task)
		if found {
			via = task
		}
		return r, via, err
	}
	had := st.views.Position()
	via, err = st.grantedByHeld(ctx, c, &r, s.ID)
	if err != nil || via != "" {
		return r, via, err
	}
	if more, err := stream.CatchUp(ctx, st.ledger, had, st.views.Wait); err != nil || !more {
		return r, "", err
	}
	via, err = st.grantedByHeld(ctx, c, &r, s.ID)
	return r, via, err
}

// grantedByHeld looks through the newest of the tasks that the caller holds for one that grants it an item.
func (st *Store) grantedByHeld(ctx context.Context, c caller.Caller, r *memory.Reader, item string) (via string, err error) {
	held, err := st.views.Tasks(ctx, c.Workspace, view.TaskFilter{Owner: c.Agent(), Live: true, Limit: maxHeld})
	if err != nil {
		return "", stream.Unavailable(err)
	}
	for _, t := range held {
		if found, err := st.grantedBy(ctx, c, r, item, t.ID); err != nil || found {
			return t.ID, err
		}
	}
	return "", nil
}

// grantedBy gives a reader what a task grants it of an item.
func (st *Store) grantedBy(ctx context.Context, c caller.Caller, r *memory.Reader, item, task string) (found bool, err error) {
	if event.CheckTaskID(task) != nil {
		return false, nil //nolint:nilerr // what can be no task grants nothing
	}
	t, err := st.tasks.Find(ctx, c.Workspace, task)
	if err != nil {
		return false, err
	}
	refs, err := st.granted(ctx, c.Workspace, t, c.Agent())
	r.Granted = slices.DeleteFunc(refs, func(g memory.Reference) bool { return g.ID != item })
	return len(r.Granted) > 0, err
}

// granted are the references in what a task gave to an agent that holds it now, or in what is offered to it with its
// content. Of a packed envelope the source counts too: what was left out for want of room is there to be fetched.
func (st *Store) granted(ctx context.Context, workspace string, t task.Task, agent string) ([]memory.Reference, error) {
	digest, h := "", t.InFlight()
	switch {
	case agent == "" || !t.Exists() || t.State.Final():
	case t.Owner == agent:
		digest = t.Held
	case h != nil && h.Stage == event.Offered && !h.Claim && slices.Contains(h.To, agent):
		digest = cmp.Or(h.Rendition, h.Envelope)
	}
	if digest == "" {
		return nil, nil
	}
	doc, err := st.open(ctx, workspace, t.ID, digest)
	if err != nil {
		return nil, err
	}
	list := doc.Memory
	if !doc.Packing.IsZero() && doc.Parent != "" {
		source, err := st.open(ctx, workspace, t.ID, doc.Parent)
		if err != nil {
			return nil, err
		}
		list = append(slices.Clip(list), source.Memory...)
	}
	var refs []memory.Reference
	for _, m := range list {
		if r := (memory.Reference{ID: m.ID, Version: m.Version, Digest: m.Digest}); m.Version > 0 && !slices.Contains(refs, r) {
			refs = append(refs, r)
		}
	}
	return refs, nil
}

// open is a task's envelope; an empty one where it is not there.
func (st *Store) open(ctx context.Context, workspace, task, digest string) (envelope.Envelope, error) {
	raw, err := st.envelopes.Bytes(ctx, workspace, task, digest)
	if refusal.CodeOf(err) == refusal.NotFound {
		return envelope.Envelope{}, nil
	}
	if err != nil {
		return envelope.Envelope{}, err
	}
	doc, _, err := envelope.Open(raw)
	return doc, err
}
