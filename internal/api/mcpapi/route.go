package mcpapi

import (
	"context"

	"github.com/trapezehq/trapeze/client"
)

type routeInput struct {
	Task string `json:"task" jsonschema:"a task you may see"`
	said
}

type routed struct {
	Task     string   `json:"task"`
	Decision decision `json:"decision"`
}

var routeTool = define[routeInput, routed]("route", "Ask where the policy would send a task", looks,
	"Where the policy would send a task, and why; nothing moves. send with to=auto does it.",
	func(ctx context.Context, c *call, in routeInput) (answer, error) {
		r, err := c.Route(ctx, in.Task, client.RouteInput{Content: in.content()})
		if err != nil {
			return answer{}, err
		}
		d := decisionOf(r.Decision)
		return answer{text: d.String(), data: routed{r.Task, d}}, nil
	})
