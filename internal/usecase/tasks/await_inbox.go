package tasks

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// AwaitInbox watches what [Tasks.Inbox] would wait for: changed is nil if it would not wait, as where something is in the inbox. Nothing of that is read. Until
// stop is called, the agent waits.
func (ts *Tasks) AwaitInbox(ctx context.Context, c caller.Caller, in InboxInput) (changed <-chan struct{}, stop func(), err error) {
	if err := ts.checkInbox(ctx, c, &in); err != nil {
		return nil, nil, err
	}
	_, changed, stop, err = ts.watchInbox(ctx, c, in)
	if err != nil {
		return nil, nil, err
	}
	box, err := ts.views.Inbox(ctx, c.Workspace, in.Agent, view.InboxFilter{After: in.After, Limit: 1})
	if err != nil || len(box.Items) > 0 {
		stop()
		return nil, nil, err
	}
	return changed, stop, nil
}

// watchInbox watches an inbox until stop is called. Meanwhile an agent whose own it is waits.
func (ts *Tasks) watchInbox(ctx context.Context, c caller.Caller, in InboxInput) (own bool, changed <-chan struct{}, stop func(), err error) {
	own = in.Agent == c.Agent() && in.Agent != "" && c.Can(identity.ActOwn)
	leave := func() {}
	if own {
		if err := ts.agents.Beat(ctx, c, in.Wait > 0); err != nil {
			return own, nil, nil, err
		}
		leave = ts.presence.Waits(c.Workspace, in.Agent)
	}
	changed, end := ts.views.Watch(c.Workspace, in.Agent)
	return own, changed, func() { end(); leave() }, nil
}
