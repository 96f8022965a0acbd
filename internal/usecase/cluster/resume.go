package cluster

import (
	"context"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Resume has a node that was drained take work again.
func (cl *Cluster) Resume(ctx context.Context, c caller.Caller, name string) (Status, error) {
	return cl.drain(ctx, c, "resume-node", name, false)
}
