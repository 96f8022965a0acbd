package agents

import (
	"context"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Folds that are kept in memory.
const cached = 12_000

// remembered is how many idempotency keys an agent remembers at least: unlike tasks, agents do not end.
const remembered = 10_000

// StreamOf is the stream of an agent.
func StreamOf(workspace, name string) ledger.Stream {
	return ledger.StreamOf(workspace, "agent", event.AgentName(name))
}

// Store is the agents of one ledger, as other use cases reach them. Its methods are safe for many goroutines.
type Store struct {
	stream.Kind[agent.State, agent.Event]
	views view.Store
}

// NewStore returns the agents of a ledger and the views that follow it.
func NewStore(l ledger.Ledger, v view.Store, now func() time.Time) (*Store, error) {
	kind, err := stream.New("agent", l, agent.Fold, now, agent.Events, stream.Options[agent.State, agent.Event]{Cached: cached, Remember: remembered})
	if err != nil {
		return nil, err
	}
	return &Store{Kind: kind, views: v}, nil
}

// Known is what is recorded about an agent, given by its identity, as the record and the views have it; the zero state for one that never was. A
// fresh one has every entry that was acknowledged before the call. Of an agent whose name is registered again there is only that it was removed.
func (s *Store) Known(ctx context.Context, workspace, id string, fresh bool) (agent.State, error) {
	name, n := event.ParseAgent(id)
	return s.registered(ctx, workspace, name, max(n, 1), fresh)
}

// Exactly is how [Store.Find] is asked for an identity, and for no later registration of its name.
func Exactly(id string) string {
	if _, n := event.ParseAgent(id); n == 0 {
		return id + "~1"
	}
	return id
}

// Find is [Store.Known] for an agent as somebody names it: the name alone is the agent that has it now.
func (s *Store) Find(ctx context.Context, workspace, name string, fresh bool) (agent.State, error) {
	plain, n := event.ParseAgent(name)
	return s.registered(ctx, workspace, plain, n, fresh)
}

// registered is what is recorded about the n-th agent of a name; 0 is the one that has it now.
func (s *Store) registered(ctx context.Context, workspace, name string, n int, fresh bool) (agent.State, error) {
	if !event.IsName(name) { // what cannot be one was never registered
		return agent.State{}, nil
	}
	f, err := s.Load(ctx, StreamOf(workspace, name), fresh)
	now := max(f.State.Registration, 1)
	switch {
	case err != nil || n == 0 || n == now:
		return f.State, err
	case f.State.Name == "" || n > now:
		return agent.State{}, nil
	}
	return agent.State{Name: event.AgentID(name, n), Registration: n, Removed: true}, nil
}

// Identity is the identity of an agent as somebody names it. What never was registered has its name.
func (s *Store) Identity(ctx context.Context, workspace, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	f, err := s.Find(ctx, workspace, name, false)
	if err != nil || f.Name != "" {
		return f.Name, err
	}
	return name, nil
}

// Unknown is the refusal (not_found) of a name that no agent has, with those that come closest.
func (s *Store) Unknown(ctx context.Context, workspace, name string) error {
	agents, err := s.views.Agents(ctx, workspace)
	if err != nil {
		return stream.Unavailable(err)
	}
	if len(agents) == 0 {
		return refusal.New(refusal.NotFound, agent.ToAdd("register an agent", name, " first", "[register one](agent add) first"), "there is no agent %.80q", name)
	}
	names := make([]string, len(agents))
	for i := range agents {
		names[i] = agents[i].Name
	}
	near := routing.Closest(name[:min(len(name), event.MaxName)], names)
	return refusal.New(refusal.NotFound, "use one of: "+strings.Join(near, ", "), "there is no agent %.80q", name).With("did_you_mean", near)
}

// Change makes one decision on an agent. request is the digest of the call, for its idempotency key.
func (s *Store) Change(ctx context.Context, c caller.Caller, name, request string, cmd agent.Command) (stream.Outcome[agent.State], error) {
	if err := refusal.In("id", event.CheckAgent("the agent's name", name)); err != nil {
		return stream.Outcome[agent.State]{}, err
	}
	return s.Do(ctx, c.Write(request), StreamOf(c.Workspace, name), func(was agent.State, now time.Time) ([]agent.Event, error) {
		return agent.Decide(was, cmd, now)
	})
}

// Room is how many more tasks an agent may take; most where it has no limit.
func (s *Store) Room(ctx context.Context, workspace, name string, most int) (int, error) {
	state, err := s.Known(ctx, workspace, name, false)
	if err != nil || state.Spec.MaxTasks == 0 {
		return most, err
	}
	held, err := s.views.Held(ctx, workspace, name)
	if err != nil {
		return 0, stream.Unavailable(err)
	}
	return max(state.Spec.MaxTasks-held, 0), nil
}
