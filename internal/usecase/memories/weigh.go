package memories

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// WeighInput says how important a memory item is.
type WeighInput struct {
	ID         string  `json:"id,omitempty" doc:"Of the item."`
	Importance float64 `json:"importance" minimum:"0" maximum:"1" doc:"From 0 (trivial) to 1 (vital)."`
}

// Weigh says how important a memory item is.
func (ms *Memories) Weigh(ctx context.Context, c caller.Caller, in WeighInput) (Item, error) {
	return ms.change(ctx, c, "weigh", in.ID, in, func(by memory.Reader) memory.Command {
		return memory.Weigh{By: by, ID: in.ID, Importance: in.Importance}
	})
}
