package memories

import (
	"cmp"
	"context"
	"slices"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// maxHeld bounds how many of its tasks are looked into for what their envelopes grant to an agent that names none.
const maxHeld = 20

// maxParents bounds how far up a task's parents are followed. The rules' own limit is lower.
const maxParents = 32

// takesPart reports whether a principal may see the whole of a task that has not ended: it requested it, holds or held
// it, or is to approve its handoff. Who was only offered or shared it takes no part.
func takesPart(t task.Task, p identity.Principal) bool {
	if !t.Exists() || t.State.Final() {
		return false
	}
	name := p.Agent()
	if t.Requester == p.String() || name == "" {
		return t.Requester == p.String()
	}
	h := t.InFlight()
	return t.Owner == name || h != nil && h.Approver == name ||
		slices.ContainsFunc(t.Path, func(v event.Visit) bool { return v.Agent == name })
}

// join adds those of some tasks to a reader that it takes part in.
func (b *Base) join(ctx context.Context, workspace string, r *memory.Reader, tasks ...string) error {
	for _, id := range tasks {
		if id == "" || event.CheckTaskID(id) != nil || slices.Contains(r.Tasks, id) {
			continue
		}
		t, err := b.tasks.Load(ctx, workspace, id)
		if err != nil {
			return err
		}
		if takesPart(t, r.Principal) {
			r.Tasks = append(r.Tasks, id)
		}
	}
	return nil
}

// readerOf is the caller with what it has to do with one item; and, where that does not let it read the item, with what
// the envelopes of its tasks grant it. via is the task that grants, if one does.
func (b *Base) readerOf(ctx context.Context, c caller.Caller, s memory.State, task string) (r memory.Reader, via string, err error) {
	r = memory.Reader{Principal: c.Principal}
	if !s.Exists() || memory.MayRead(s, r) {
		return r, "", nil
	}
	if err := b.join(ctx, c.Workspace, &r, s.Task); err != nil || memory.MayRead(s, r) || c.Agent() == "" {
		return r, "", err
	}
	if task != "" {
		found, err := b.grantedBy(ctx, c, &r, s.ID, task)
		if found {
			via = task
		}
		return r, via, err
	}
	had := b.views.Position()
	via, err = b.grantedByHeld(ctx, c, &r, s.ID)
	if err != nil || via != "" {
		return r, via, err
	}
	if more, err := stream.CatchUp(ctx, b.ledger, had, b.views.Wait); err != nil || !more {
		return r, "", err
	}
	via, err = b.grantedByHeld(ctx, c, &r, s.ID)
	return r, via, err
}

// grantedByHeld looks through the newest of the tasks that the caller holds for one that grants it an item.
func (b *Base) grantedByHeld(ctx context.Context, c caller.Caller, r *memory.Reader, item string) (via string, err error) {
	held, err := b.views.Tasks(ctx, c.Workspace, view.TaskFilter{Owner: c.Agent(), Live: true, Limit: maxHeld})
	if err != nil {
		return "", stream.Unavailable(err)
	}
	for _, t := range held {
		if found, err := b.grantedBy(ctx, c, r, item, t.ID); err != nil || found {
			return t.ID, err
		}
	}
	return "", nil
}

// grantedBy gives a reader what a task grants it of an item.
func (b *Base) grantedBy(ctx context.Context, c caller.Caller, r *memory.Reader, item, task string) (found bool, err error) {
	if event.CheckTaskID(task) != nil {
		return false, nil //nolint:nilerr // what can be no task grants nothing
	}
	t, err := b.tasks.Load(ctx, c.Workspace, task)
	if err != nil {
		return false, err
	}
	refs, err := b.granted(ctx, c.Workspace, t, c.Agent())
	r.Granted = slices.DeleteFunc(refs, func(g memory.Reference) bool { return g.ID != item })
	return len(r.Granted) > 0, err
}

// granted are the references in what a task gave to an agent that holds it now, or in what is offered to it with its
// content. Of a packed envelope the source counts too: what was left out for want of room is there to be fetched.
func (b *Base) granted(ctx context.Context, workspace string, t task.Task, agent string) ([]memory.Reference, error) {
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
	doc, err := b.open(ctx, workspace, t.ID, digest)
	if err != nil {
		return nil, err
	}
	list := doc.Memory
	if !doc.Packing.IsZero() && doc.Parent != "" {
		source, err := b.open(ctx, workspace, t.ID, doc.Parent)
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
func (b *Base) open(ctx context.Context, workspace, task, digest string) (envelope.Envelope, error) {
	raw, err := b.tasks.Envelope(ctx, workspace, task, digest)
	if refusal.CodeOf(err) == refusal.NotFound {
		return envelope.Envelope{}, nil
	}
	if err != nil {
		return envelope.Envelope{}, err
	}
	doc, _, err := envelope.Open(raw)
	return doc, err
}

// partner is a principal with what lets it read a conversation, if anything does.
func (b *Base) partner(ctx context.Context, workspace string, r memory.Reader, s conversation.State) (memory.Reader, error) {
	if !s.Exists() || conversation.MayRead(s, r) {
		return r, nil
	}
	for _, id := range slices.Backward(s.Tasks) {
		if err := b.join(ctx, workspace, &r, id); err != nil || len(r.Tasks) > 0 {
			return r, err
		}
	}
	had := b.views.Position()
	found, err := b.carried(ctx, workspace, &r, s)
	if err != nil || found {
		return r, err
	}
	more, err := stream.CatchUp(ctx, b.ledger, had, b.views.Wait)
	if err == nil && more {
		_, err = b.carried(ctx, workspace, &r, s)
	}
	return r, err
}

// carried looks for a task that a reader takes part in and that carries a conversation along.
func (b *Base) carried(ctx context.Context, workspace string, r *memory.Reader, s conversation.State) (found bool, err error) {
	ids, err := b.views.Carriers(ctx, workspace, s.ID, r.String(), view.MaxPage)
	if err != nil {
		return false, stream.Unavailable(err)
	}
	for _, id := range ids {
		t, err := b.tasks.Load(ctx, workspace, id)
		if err != nil {
			return false, err
		}
		carries, err := b.carries(ctx, workspace, t, s, r.Principal)
		if err != nil {
			return false, err
		}
		if carries {
			r.Conversations = append(r.Conversations, s.ID)
			return true, nil
		}
	}
	return false, nil
}

// carries reports whether a task carries a conversation along to a principal.
func (b *Base) carries(ctx context.Context, workspace string, t task.Task, s conversation.State, p identity.Principal) (bool, error) {
	if !takesPart(t, p) {
		return false, nil
	}
	return b.belongs(ctx, workspace, t, s)
}

// belongs reports whether a conversation is a task's own: anybody can name one in a task. A child task got its
// conversation from its parent, so whoever requested the first of them counts.
func (b *Base) belongs(ctx context.Context, workspace string, t task.Task, s conversation.State) (bool, error) {
	if t.Conversation != s.ID {
		return false, nil
	}
	for range maxParents {
		if t.Parent.Task == "" {
			return conversation.Carries(s, t.Requester), nil
		}
		var err error
		if t, err = b.tasks.Load(ctx, workspace, t.Parent.Task); err != nil {
			return false, err
		}
	}
	return false, nil
}
