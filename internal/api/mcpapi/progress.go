package mcpapi

import (
	"context"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

type progressInput struct {
	Task   string        `json:"task"`
	Note   string        `json:"note,omitempty" jsonschema:"what was done; if omitted, only a heartbeat"`
	Tokens int64         `json:"tokens,omitempty" jsonschema:"tokens used since the last report"`
	Cost   int64         `json:"cost,omitempty" set:"all" jsonschema:"cost since the last report, in millionths of the currency"`
	Gap    argument.List `json:"gap,omitempty" jsonschema:"what your context lacks; it is recorded"`
	Epoch  uint64        `json:"epoch,omitempty"`
	Key    string        `json:"key,omitempty"`
}

var progressTool = define[progressInput, receipt]("progress", "Report progress", tool.Changes,
	"Report progress on a task you own, or send a heartbeat. Renews your lease: when it expires, the task goes to another agent.",
	func(ctx context.Context, c *call, in progressInput) (answer, error) {
		ctx = tool.Keyed(ctx, in.Key)
		epoch, err := c.Session.Epoch(ctx, in.Task, in.Epoch)
		if err != nil {
			return answer{}, err
		}
		var r client.Receipt
		switch {
		case len(in.Gap) > 0:
			r, err = c.ReportGap(ctx, in.Task, client.GapInput{Epoch: epoch, Missing: in.Gap, Detail: in.Note, Usage: client.Spend{Tokens: in.Tokens, Cost: in.Cost}})
		case in.Note == "" && in.Tokens == 0 && in.Cost == 0:
			r, err = c.Heartbeat(ctx, in.Task, epoch)
		default:
			r, err = c.Progress(ctx, in.Task, client.ProgressInput{Epoch: epoch, Note: in.Note, Usage: client.Spend{Tokens: in.Tokens, Cost: in.Cost}})
		}
		if err == nil && r.State != client.Executing { // it waits, or its budget is spent: no lease runs
			return tool.Changed(r, nil, "Recorded.", "")
		}
		return tool.Changed(r, err, "Recorded; your lease was renewed.", "")
	})
