package memories

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Forget ends the giving out of a memory item's content, for good: to nobody, by no reference, and no search finds it.
// Envelopes that were sealed with its text keep it, and so does the record.
func (ms *Memories) Forget(ctx context.Context, c caller.Caller, id string) (Item, error) {
	return ms.change(ctx, c, "forget", id, nil, func(by memory.Reader) memory.Command { return memory.Forget{By: by, ID: id} })
}
