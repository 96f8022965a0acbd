package memories

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Unpin undoes Pin.
func (ms *Memories) Unpin(ctx context.Context, c caller.Caller, id string) (Item, error) {
	return ms.change(ctx, c, "unpin", id, nil, func(by memory.Reader) memory.Command { return memory.Unpin{By: by, ID: id} })
}
