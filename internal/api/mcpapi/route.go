package mcpapi

import (
	"context"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

type routeInput struct {
	Task string `json:"task" jsonschema:"id of a task you may see"`
	said
}

type routed struct {
	Task     string        `json:"task"`
	Decision show.Decision `json:"decision"`
}

var routeTool = define[routeInput, routed]("route", "Show where the policy would send a task", tool.Looks,
	"Show where the policy would send a task, and why. Changes nothing: {send} with to=auto hands it off.",
	func(ctx context.Context, c *call, in routeInput) (answer, error) {
		r, err := c.Route(ctx, in.Task, client.RouteInput{Content: in.content()})
		if err != nil {
			return answer{}, err
		}
		d := show.DecisionOf(r.Decision)
		return answer{Text: d.String(), Data: routed{r.Task, d}}, nil
	})
