package followup

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Report tells an agent's circuits how an offer or lease ended, where that can make a difference. sender is the principal on
// whose account the agent had it; empty in older records.
func (u *FollowUp) Report(ctx context.Context, workspace, agentName string, e ledger.Entry, o agent.Outcome, sender, task string, n int) error {
	space, err := u.spaces.State(ctx, workspace)
	if err != nil || uint64(e.Position) <= space.Arrived { // what moved here was counted where it was before
		return err
	}
	cmd := agent.ReportOutcome{Name: agentName, Sender: sender, Cause: space.Base + uint64(e.Position), Outcome: o, Task: task}
	if n > 0 {
		cmd.Handoff = event.HandoffID(task, n)
	}
	state, err := u.agents.Known(ctx, workspace, agentName, false)
	if err != nil || !agent.Worth(state, cmd) {
		return err
	}
	if o == agent.Ended { // a task of its own making does not show that it does what others give it
		t, err := u.tasks.Find(ctx, workspace, task)
		if err != nil || t.Requester == event.SourcePrincipal(agentName) {
			return err
		}
	}
	_, err = u.agents.Change(ctx, caller.System(workspace, "courier", e.Actor), agentName, "", cmd)
	return caller.Tolerate(err)
}
