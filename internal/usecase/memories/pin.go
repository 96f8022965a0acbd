package memories

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Pin puts a memory item into every envelope that may hold it, before others.
func (ms *Memories) Pin(ctx context.Context, c caller.Caller, id string) (Item, error) {
	return ms.change(ctx, c, "pin", id, nil, func(by memory.Reader) memory.Command { return memory.Pin{By: by, ID: id} })
}
