package taskstore

import (
	"context"
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Sees reports whether the caller has a part in the task: requested it, holds or held it, approves it, was offered or
// shared it. Those who may read anything see every task.
func (s *Store) Sees(c caller.Caller, t task.Task) bool {
	if c.IsSystem() || identity.May(c.Role, identity.ReadAny) || t.Requester == c.String() {
		return true
	}
	return c.Agent() != "" && slices.Contains(t.Involved, c.Agent())
}

// Holds reports whether the caller, who sees the task, has more to do with it than an offer or a share: it requested the
// task, holds, held or approves it, or may read anything.
func Holds(c caller.Caller, t task.Task) bool {
	name, h := c.Agent(), t.Handoff
	held := func(v event.Visit) bool { return v.Agent == name }
	return name == "" || t.Requester == c.String() || t.Owner == name || slices.ContainsFunc(t.Path, held) || h != nil && h.Approver == name
}

// MayRead reports whether the caller may read what a task's envelopes say: who holds it in one way or another, the
// receiver of an open offer that is no claim, and those it was shared with.
func (s *Store) MayRead(ctx context.Context, c caller.Caller, id string) (bool, error) {
	f, err := s.Load(ctx, StreamOf(c.Workspace, id), true)
	t, name := f.State, c.Agent()
	if err != nil || !t.Exists() || !s.Sees(c, t) {
		return false, err
	}
	h := t.InFlight()
	offered := h != nil && h.Stage == event.Offered && !h.Claim && slices.Contains(h.To, name)
	shared := slices.ContainsFunc(t.Shares, func(x task.Share) bool { return x.To == name })
	return Holds(c, t) || offered || shared, nil
}

// touches reports whether a caller may try a command on the task at all. Beyond those who see it, an agent that was a
// candidate may be told that its offer is over.
func (s *Store) touches(c caller.Caller, t task.Task) bool {
	if s.Sees(c, t) {
		return true
	}
	h := t.Handoff
	return h != nil && slices.ContainsFunc(h.Candidates, func(k event.Candidate) bool { return k.Agent == c.Agent() })
}

// Whole reports whether the caller may read all that a task's envelopes say: its owner, its requester, who approves it,
// and those who may read anything.
func Whole(c caller.Caller, t task.Task) bool {
	name := c.Agent()
	return name == "" || t.Owner == name || t.Requester == c.String() || t.Handoff != nil && t.Handoff.Approver == name
}
