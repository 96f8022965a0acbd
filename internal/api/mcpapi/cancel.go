package mcpapi

import (
	"context"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

type cancelInput struct {
	ID    string `json:"id" jsonschema:"id of a task to cancel, or of your handoff to withdraw"`
	Why   string `json:"why" jsonschema:"the reason; it is recorded"`
	Epoch uint64 `json:"epoch,omitempty"`
	Key   string `json:"key,omitempty"`
}

var cancelTool = define[cancelInput, receipt]("cancel", "Cancel a task", tool.Destroys,
	"Cancel a task you requested or own, with its child tasks; or withdraw a handoff that nobody has accepted.",
	func(ctx context.Context, c *call, in cancelInput) (answer, error) {
		ctx = tool.Keyed(ctx, in.Key)
		if strings.Contains(in.ID, ".h") {
			epoch, err := c.Session.Epoch(ctx, taskOf(in.ID), in.Epoch)
			if err != nil {
				return answer{}, err
			}
			r, err := c.Withdraw(ctx, in.ID, client.CancelInput{Epoch: epoch, Detail: in.Why})
			next := "you own the task: continue it"
			if r.Owner == "" {
				next = c.Say("nobody owns the task: {send} with task=%s hands it to another agent, {cancel} with id=%s ends it", r.Task, r.Task)
			} else if me, err := c.Me(ctx); err != nil || me.Agent != r.Owner {
				next = r.Owner + " owns the task and continues it"
			}
			return tool.Changed(r, err, "The handoff was withdrawn.", next)
		}
		epoch, err := c.Session.OwnersEpoch(ctx, in.ID, in.Epoch)
		if err != nil {
			return answer{}, err
		}
		r, err := c.Cancel(ctx, in.ID, client.CancelInput{Epoch: epoch, Detail: in.Why})
		return tool.Changed(r, err, "The task was cancelled.", "")
	})
