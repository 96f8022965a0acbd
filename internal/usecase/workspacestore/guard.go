package workspacestore

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/workspace"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// free are the kinds of streams whose entries no limit refuses: reads are recorded, tokens revoked and workspaces changed in any case.
var free = []string{access.Kind, "token", Kind}

// guarded is a ledger whose entries pass the limits of their workspaces.
type guarded struct {
	ledger.Ledger
	store *Store
}

// Guard returns the ledger with the workspaces guarded: it refuses the entries of principals in archived workspaces, except those that note a read, and those that would
// exceed a limit. What the server does by itself is refused only in workspaces that hold still, since they move: elsewhere it ends what was begun.
func (s *Store) Guard(l ledger.Ledger) ledger.Ledger { return guarded{l, s} }

// Append implements [ledger.Ledger].
func (g guarded) Append(ctx context.Context, e ledger.Entry, expect ledger.Position) (ledger.Position, error) {
	name, kind, _ := e.Stream.Parts()
	if slices.Contains(free, kind) {
		return g.append(ctx, name, kind, e, expect)
	}
	began := time.Now()
	g.store.writing.RLock()
	defer g.store.writing.RUnlock()
	state, err := g.store.State(ctx, name)
	if err == nil && state.HoldsStill() {
		err = state.MayChange(name)
	}
	if err != nil {
		return 0, err
	}
	var reserved []reservation
	if !strings.HasPrefix(e.Actor.Principal, string(identity.System)+"/") {
		if reserved, err = g.store.admit(ctx, state, name, kind, &e); err != nil {
			return 0, err
		}
	}
	at, err := g.append(ctx, name, kind, e, expect)
	g.store.release(reserved)
	if err == nil && g.store.shared && time.Since(began) > knownFor { // the workspace may have begun to move meanwhile
		if err := g.store.stayed(ctx, name); err != nil {
			return 0, err
		}
	}
	return at, err
}

// stayed refuses (unknown) if a workspace began to move while a change was recorded.
func (s *Store) stayed(ctx context.Context, name string) error {
	if now, err := s.find(ctx, name); err != nil || now.HoldsStill() {
		return refusal.New(refusal.Unknown, "repeat the call with the same idempotency key", "the workspace %s began to move while the change was recorded: it may be part of what moves, or not", name)
	}
	return nil
}

func (g guarded) append(ctx context.Context, name, kind string, e ledger.Entry, expect ledger.Position) (ledger.Position, error) {
	at, err := g.Ledger.Append(ctx, e, expect)
	if err == nil {
		g.store.wrote(name, kind, &e)
	}
	return at, err
}

// Settle returns when no change of a workspace that holds still since before the call is acknowledged any more: those that this server writes have ended, and the other
// servers of the record, if there are any, know of it.
func (s *Store) Settle(ctx context.Context) error {
	s.writing.Lock()
	s.writing.Unlock() //nolint:gocritic,staticcheck // it waits until what is being written has ended
	if !s.shared {
		return nil
	}
	t := time.NewTimer(settled)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return stream.Unavailable(ctx.Err())
	}
}

// admit refuses an entry in an archived workspace (conflict) unless it notes a read, and one that would exceed a limit (limit). What it returns is reserved for the entry
// until it is released, so that entries that are written at once do not exceed a limit together.
func (s *Store) admit(ctx context.Context, state *workspace.State, name, kind string, e *ledger.Entry) (reserved []reservation, err error) {
	if err := state.MayChange(name); err != nil && !ledger.IsForRead(ctx) {
		return nil, err
	}
	if state.Limits == (workspace.Limits{}) {
		return nil, nil
	}
	for _, more := range adds(kind, e) {
		if state.Limits.Of(more.limit) == 0 {
			continue
		}
		r := reservation{s.use(name, more.limit), more.n}
		if err := s.reserve(ctx, state, r); err != nil {
			s.release(reserved)
			return nil, err
		}
		reserved = append(reserved, r)
	}
	return reserved, nil
}

// reservation is what an entry that is being written adds to what a limit bounds.
type reservation struct {
	of use
	n  int64
}

// reserve refuses (limit) what would exceed a limit together with what is there and what is reserved.
func (s *Store) reserve(ctx context.Context, state *workspace.State, r reservation) error {
	n := s.count(ctx, r.of)
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, there := s.used.Get(r.of); there {
		n = c.n
	}
	if err := state.Check(r.of.workspace, r.of.limit, n+s.reserved[r.of]+max(r.n, 1)); err != nil {
		return err
	}
	s.reserved[r.of] += r.n
	return nil
}

// release ends reservations.
func (s *Store) release(reserved []reservation) {
	if len(reserved) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range reserved {
		if s.reserved[r.of] -= r.n; s.reserved[r.of] <= 0 {
			delete(s.reserved, r.of)
		}
	}
}

// addition is what an entry adds to what a limit bounds.
type addition struct {
	limit workspace.Limit
	n     int64
}

// adds returns what an entry adds to the numbers of its workspace. The children of a task are counted when the server makes them; that their parent asks
// for them is refused if there is no room.
func adds(kind string, e *ledger.Entry) []addition {
	list := []addition{{workspace.EntriesPerDay, 1}}
	for _, ev := range e.Events {
		switch {
		case kind == ledger.TaskKind && ev.Name == event.Created{}.EventName():
			list = append(list, addition{workspace.OpenTasks, 1})
		case kind == ledger.TaskKind && ev.Name == event.Spawned{}.EventName():
			list = append(list, addition{workspace.OpenTasks, 0})
		case kind == "agent" && ev.Name == agent.Registered{}.EventName():
			list = append(list, addition{workspace.Agents, 1})
		}
	}
	return list
}

// wrote counts an entry that was written. It adds only to numbers that are known: others are counted when they are needed.
func (s *Store) wrote(name, kind string, e *ledger.Entry) {
	if !s.counting.Load() { // no workspace has limits
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, more := range adds(kind, e) {
		u := s.use(name, more.limit)
		if c, there := s.used.Get(u); there {
			c.n += more.n
			s.remember(u, c)
		}
	}
}

func (s *Store) use(name string, limit workspace.Limit) use {
	u := use{workspace: name, limit: limit}
	if limit == workspace.EntriesPerDay {
		u.day = view.DayOf(s.now())
	}
	return u
}

// count returns how many of what a limit bounds a workspace has. The call that counts again does so outside of the lock; the others use the
// last number, or wait for the first one.
func (s *Store) count(ctx context.Context, u use) int64 {
	now := s.now()
	s.mu.Lock()
	c, there := s.used.Get(u)
	if age := now.Sub(c.at); there && age >= 0 && age < knownFor {
		s.mu.Unlock()
		return c.n
	}
	if !there {
		s.mu.Unlock()
		return s.countFirst(ctx, u, now)
	}
	before := c.n
	c.at = now
	s.remember(u, c)
	s.mu.Unlock()

	n, err := s.Used(ctx, u.workspace, u.limit)
	if err != nil {
		return c.n
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, there := s.used.Get(u); there { // what was written meanwhile may be in the number, or not
		n += max(c.n-before, 0)
	}
	s.remember(u, counted{n, now})
	return n
}

// countFirst counts what nobody has counted. Other calls wait for the number.
func (s *Store) countFirst(ctx context.Context, u use, now time.Time) int64 {
	s.first.Lock()
	defer s.first.Unlock()
	s.mu.Lock()
	c, there := s.used.Get(u)
	s.mu.Unlock()
	if there {
		return c.n
	}
	n, err := s.Used(ctx, u.workspace, u.limit)
	if err != nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remember(u, counted{n, now})
	return n
}

// Used counts what a limit of a workspace bounds, in the views. Artifacts are not counted there.
func (s *Store) Used(ctx context.Context, name string, limit workspace.Limit) (int64, error) {
	switch limit {
	case workspace.OpenTasks:
		return s.views.OpenTasks(ctx, name)
	case workspace.EntriesPerDay:
		return s.views.EntriesOn(ctx, name, s.now())
	case workspace.Agents:
		return s.views.AgentCount(ctx, name)
	case workspace.ArtifactBytes: // the store of artifacts counts them
	}
	return 0, nil
}
