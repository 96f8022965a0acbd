package agents

import (
	"context"
	"fmt"
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Remove removes the registration of an agent. Its tokens count no more, and what it has stays with this registration. What it holds and was offered goes to others
// when its clocks are over, as with any agent that does not answer.
func (a *Agents) Remove(ctx context.Context, c caller.Caller, name string) (Agent, error) {
	if err := c.May(identity.ManageAgents, "remove an agent"); err != nil {
		return Agent{}, a.access.Refused(ctx, c.Workspace, c.Actor(), "remove", name, err)
	}
	x, err := a.do(ctx, c, "remove", name, nil, agent.Remove{Name: name})
	if err != nil {
		return x, err
	}
	return a.left(ctx, c, x)
}

// left warns of what a removed agent leaves: the tasks that it owns, and the offers that wait for its answer.
func (a *Agents) left(ctx context.Context, c caller.Caller, x Agent) (Agent, error) {
	if err := a.views.Wait(ctx, x.Position); err != nil { // an offer just before counts
		return x, stream.Unavailable(err)
	}
	held, err := a.views.Held(ctx, c.Workspace, x.Name)
	if err != nil {
		return x, stream.Unavailable(err)
	}
	x.Held, x.Warnings = held, nil
	box, err := a.views.Inbox(ctx, c.Workspace, x.Name, view.InboxFilter{Limit: view.MaxPage})
	if err != nil {
		return x, stream.Unavailable(err)
	}
	offers := slices.DeleteFunc(box.Items, func(i view.Item) bool { return i.Type != view.ItemOffer || i.Claim })
	if x.Held > 0 {
		x.Warnings = append(x.Warnings, fmt.Sprintf("%s still owns tasks (%d): to move one now, run trapeze takeover TASK --to NAME; trapeze task list shows them", x.Name, x.Held))
	}
	if len(offers) > 0 {
		o := offers[0]
		x.Warnings = append(x.Warnings, fmt.Sprintf("offers to %s are open (%d), and go to others when their time is over: to hand one on now, run %s, then %s --to NAME",
			x.Name, len(offers), shellword.Command("trapeze handoff withdraw", o.ID), shellword.Command("trapeze send", o.Task)))
	}
	return x, nil
}
