package held

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
)

// Caller is a session in a call of a tool.
type Caller struct {
	Epochs  *Epochs
	Client  *client.Client
	Session *mcp.ServerSession
	Say     func(format string, args ...any) string // writes a text that names tools

	own client.Task // of which the call took the epoch from its session; none: an empty id
}

// Hold notes that the session of the call was given an epoch: it has just become the owner.
func (c *Caller) Hold(task string, epoch uint64) { c.Epochs.Hold(c.Session, task, epoch) }

// Showed notes that the session was shown that its agent owns a task, and under which epoch. What it was given before counts: a session
// that looks at a task does not thereby own what another session has accepted.
func (c *Caller) Showed(ctx context.Context, t client.Task) {
	if t.Owner == "" || c.Epochs.Of(c.Session, t.ID) != 0 {
		return
	}
	if me, err := c.Client.Me(ctx); err == nil && me.Agent == t.Owner {
		c.Hold(t.ID, t.Epoch)
	}
}

// Epoch returns the epoch for a change of a task: the one given, or that which the session was given. A session that
// was given none gets the current one, unless its agent has owned the task under another epoch too: then nothing tells which of
// the two the caller means.
func (c *Caller) Epoch(ctx context.Context, task string, given uint64) (uint64, error) {
	if given != 0 {
		return given, nil
	}
	t, err := c.Client.Task(ctx, task)
	if err != nil || t.Owner == "" || t.Epoch <= 1 {
		return t.Epoch, err
	}
	me, err := c.Client.Me(ctx)
	if err != nil || me.Agent != t.Owner {
		return t.Epoch, err
	}
	switch epoch := c.Epochs.Of(c.Session, task); {
	case epoch != 0: // the rules refuse an old one, unless the call is a repeat
		c.own = t
		return epoch, nil
	case visits(t, me.Agent) > 1 || t.Parked != nil: // a replay forgets the path
		return 0, &client.Error{
			Code: client.StaleEpoch, Message: fmt.Sprintf("%s has owned task %s more than once, and this session was given no epoch of it", me.Agent, task),
			Hint:    c.Say("call {status} with id=%s: if the work that it shows is yours, call again with the epoch that it shows; if another session of yours does it, stop", task),
			Details: map[string]any{"epoch": t.Epoch},
		}
	}
	return t.Epoch, nil
}

// OwnersEpoch returns the epoch for a change that others than the owner of a task may make too: that of [Caller.Epoch] for its owner, and 0
// (any) for its requester, who is bound by none, and for everybody else.
func (c *Caller) OwnersEpoch(ctx context.Context, task string, given uint64) (uint64, error) {
	if given != 0 {
		return given, nil
	}
	t, err := c.Client.Task(ctx, task)
	if err != nil || t.Owner == "" {
		return 0, err
	}
	me, err := c.Client.Me(ctx)
	if err != nil || t.Owner != me.Agent || t.Requester == "agent/"+me.Agent {
		return 0, err
	}
	return c.Epoch(ctx, task, 0)
}

// Stale says to a session whose epoch is refused that another session of its agent owns the task now. The hint of the rules, to look up
// the current epoch, would lead it to complete the work of that session.
func (c *Caller) Stale(err error) error {
	var e *client.Error
	if c.own.ID == "" || !errors.As(err, &e) || e.Code != client.StaleEpoch {
		return err
	}
	out := *e
	out.Hint = c.Say("another session of %s accepted the task under epoch %d: stop working on it in this session. Only if you are to continue it here instead, call {accept} with handoff=%s first: it gives you the context again",
		c.own.Owner, c.own.Epoch, c.own.ID)
	return &out
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
