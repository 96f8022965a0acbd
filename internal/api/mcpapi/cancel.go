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
			return tool.Changed(r, err, "The handoff was withdrawn.", "you own the task: continue it")
		}
		epoch, err := c.Session.OwnersEpoch(ctx, in.ID, in.Epoch)
		if err != nil {
			return answer{}, err
		}
		r, err := c.Cancel(ctx, in.ID, client.CancelInput{Epoch: epoch, Detail: in.Why})
		return tool.Changed(r, err, "The task was cancelled.", "")
	})
