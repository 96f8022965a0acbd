package mcpapi

import (
	"context"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
)

type rejectInput struct {
	Handoff string        `json:"handoff"`
	Why     string        `json:"why" enum:"not_capable,overloaded,missing_context,refused" jsonschema:"not_capable, overloaded, missing_context or refused"`
	Missing argument.List `json:"missing,omitempty" jsonschema:"with missing_context: the fields you need"`
	Detail  string        `json:"detail,omitempty"`
}

var rejectTool = define[rejectInput, receipt]("reject", "Turn an offer down", changes,
	"Turn an offer down, with the reason. The task goes to the next candidate or back.",
	func(ctx context.Context, c *call, in rejectInput) (answer, error) {
		if len(in.Missing) > 0 && in.Why != string(client.MissingContext) {
			return answer{}, invalid("missing goes with why=missing_context: leave it out, or say so")
		}
		r, err := c.Reject(ctx, in.Handoff, client.RejectInput{Why: client.Rejection(in.Why), Missing: in.Missing, Detail: in.Detail})
		if err != nil {
			return answer{}, err
		}
		return told(r, "You turned it down.", "wait for other work with inbox"), nil
	})
