package mcpapi

import (
	"context"
	"strings"

	"github.com/trapezehq/trapeze/client"
)

type cancelInput struct {
	ID    string `json:"id" jsonschema:"a task to call off, or a handoff of yours to take back"`
	Why   string `json:"why" jsonschema:"for the record"`
	Epoch uint64 `json:"epoch,omitempty"`
}

var cancelTool = define[cancelInput, receipt]("cancel", "Call a task off", destroys,
	"Call off a task you requested or own, with its children; or take back a handoff nobody has accepted.",
	func(ctx context.Context, c *call, in cancelInput) (answer, error) {
		if strings.Contains(in.ID, ".h") {
			epoch, err := c.epochOf(ctx, taskOf(in.ID), in.Epoch)
			if err != nil {
				return answer{}, err
			}
			r, err := c.Withdraw(ctx, in.ID, client.CancelInput{Epoch: epoch, Detail: in.Why})
			if err != nil {
				return answer{}, err
			}
			return told(r, "The handoff was taken back.", "the task is yours: go on with it"), nil
		}
		r, err := c.Cancel(ctx, in.ID, client.CancelInput{Epoch: in.Epoch, Detail: in.Why})
		if err != nil {
			return answer{}, err
		}
		return told(r, "The task was called off.", ""), nil
	})
