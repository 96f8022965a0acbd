package mcpapi

import (
	"context"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

type rejectInput struct {
	Handoff string           `json:"handoff"`
	Reason  client.Rejection `json:"reason"`
	Missing argument.List    `json:"missing,omitempty" jsonschema:"with missing_context: the fields you need"`
	Detail  string           `json:"detail,omitempty"`
	Key     string           `json:"key,omitempty"`
}

var rejectTool = define[rejectInput, receipt]("reject", "Reject an offer", tool.Changes,
	"Reject an offer, with the reason. The task is offered to the next candidate, or goes back to its sender.",
	func(ctx context.Context, c *call, in rejectInput) (answer, error) {
		if len(in.Missing) > 0 && in.Reason != client.MissingContext {
			return answer{}, invalid("missing is for reason=missing_context only: omit it, or change reason")
		}
		in.Handoff = c.handoffOf(ctx, in.Handoff)
		r, err := c.Reject(tool.Keyed(ctx, in.Key), in.Handoff, client.RejectInput{Reason: in.Reason, Missing: in.Missing, Detail: in.Detail})
		return tool.Changed(r, err, "You rejected it.", c.Say("call {inbox} to wait for other work"))
	})
