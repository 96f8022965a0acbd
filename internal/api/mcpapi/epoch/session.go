package epoch

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
)

// Session is the MCP session of one call of a tool.
type Session struct {
	Epochs *Epochs
	Client *client.Client
	MCP    *mcp.ServerSession
	Say    func(format string, args ...any) string // writes a text that names tools

	own client.Task // of which the call took the epoch from its session; none: an empty id
}

// Hold notes that the session of the call was given an epoch: it has just become the owner.
func (s *Session) Hold(task string, epoch uint64) { s.Epochs.Hold(s.MCP, task, epoch) }

// AskedFor notes that the session asked the owner of a task for it: an epoch under which it had the task earlier is over. Once the owner
// agrees, the session is given the new one as a session that was given none.
func (s *Session) AskedFor(task string) { s.Epochs.Drop(s.MCP, task) }

// Showed notes that the session was shown that its agent owns a task, and under which epoch. What it was given before counts: a session
// that looks at a task does not thereby own what another session has accepted.
func (s *Session) Showed(ctx context.Context, t client.Task) {
	if t.Owner == "" || s.Epochs.Of(s.MCP, t.ID) != 0 {
		return
	}
	if me, err := s.Client.Me(ctx); err == nil && me.Agent == t.Owner {
		s.Hold(t.ID, t.Epoch)
	}
}

// Epoch returns the epoch for a change of a task: the one given, or that which the session was given. A session that
// was given none gets the current one, unless its agent has owned the task under another epoch too: then nothing tells which of
// the two the caller means.
func (s *Session) Epoch(ctx context.Context, task string, given uint64) (uint64, error) {
	if given != 0 {
		return given, nil
	}
	t, err := s.Client.Task(ctx, task)
	if err != nil || t.Owner == "" || t.Epoch <= 1 {
		return t.Epoch, err
	}
	me, err := s.Client.Me(ctx)
	if err != nil || me.Agent != t.Owner {
		return t.Epoch, err
	}
	switch epoch := s.Epochs.Of(s.MCP, task); {
	case epoch != 0: // the rules refuse an old one, unless the call is a repeat
		s.own = t
		return epoch, nil
	case ownedBefore(t):
		why := "has"
		if visits(t, me.Agent) <= 1 {
			why = "may have"
		}
		return 0, &client.Error{
			Code: client.StaleEpoch, Message: fmt.Sprintf("%s %s owned task %s more than once, and this session was given no epoch of it", me.Agent, why, task),
			Hint:    s.Say("call {status} with id=%s: if the work that it shows is yours, call again with the epoch that it shows; if another session of yours does it, stop", task),
			Details: map[string]any{"epoch": t.Epoch},
		}
	}
	return t.Epoch, nil
}

// OwnersEpoch returns the epoch for a change that others than the owner of a task may make too: that of [Session.Epoch] for its owner, and 0
// (any) for its requester, who is bound by none, and for everybody else.
func (s *Session) OwnersEpoch(ctx context.Context, task string, given uint64) (uint64, error) {
	if given != 0 {
		return given, nil
	}
	t, err := s.Client.Task(ctx, task)
	if err != nil || t.Owner == "" {
		return 0, err
	}
	me, err := s.Client.Me(ctx)
	if err != nil || t.Owner != me.Agent || t.Requester == me.Agent {
		return 0, err
	}
	return s.Epoch(ctx, task, 0)
}

// Stale says to a session whose epoch is refused that its agent became the owner again without it: another session accepted the task, or
// a takeover was granted that it did not ask for. The hint of the rules, to look up the current epoch, would lead it to complete the
// work of that session.
func (s *Session) Stale(err error) error {
	var e *client.Error
	if s.own.ID == "" || !errors.As(err, &e) || e.Code != client.StaleEpoch {
		return err
	}
	out := *e
	out.Hint = s.Say("another session of %s has the task under epoch %d, which it accepted or asked for: stop working on it in this session. Only if you are to continue it here instead, call {accept} with handoff=%s first: it gives you the context again",
		s.own.Owner, s.own.Epoch, s.own.ID)
	return &out
}

// Named is the epoch that calls about a task have to name, because its agent owned it before, and the requests of the protocol have no session that remembers
// the one it has now; 0: they need none.
func (s *Session) Named(ctx context.Context, task string, epoch uint64) uint64 {
	if epoch <= 1 || s.MCP != nil && s.MCP.ID() != "" {
		return 0
	}
	if t, err := s.Client.Task(ctx, task); err != nil || t.Epoch != epoch || !ownedBefore(t) {
		return 0
	}
	return epoch
}

// ownedBefore reports whether the owner of a task owned it under another epoch, too, or may have: the path may lack the oldest visits.
func ownedBefore(t client.Task) bool {
	return visits(t, t.Owner) > 1 || t.Epoch > uint64(len(t.Path))
}

// visits is how often an agent has owned a task, as far as its path says.
func visits(t client.Task, agent string) (n int) {
	for _, v := range t.Path {
		if v.Agent == agent {
			n++
		}
	}
	return n
}
