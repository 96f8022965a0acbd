package show

import (
	"context"

	"github.com/trapezehq/trapeze/client"
)

// mostChildren is the maximum number of child tasks whose own state an answer has.
const mostChildren = 16

// LookAtChildren sets the state of child tasks that have not ended to that of their own tasks: a parent hears of a child when it ends.
func LookAtChildren(ctx context.Context, c *client.Client, list []Child) {
	looked := 0
	for i, k := range list {
		if client.State(k.State).Final() || looked == mostChildren {
			continue
		}
		looked++
		if t, err := c.Task(ctx, k.Task); err == nil { // otherwise what its parent has heard
			list[i] = k.At(t)
		}
	}
}
