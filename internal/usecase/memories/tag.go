package memories

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// TagInput replaces the tags of a memory item.
type TagInput struct {
	ID   string   `json:"id,omitempty" doc:"Of the item."`
	Tags []string `json:"tags,omitempty" doc:"All of them; none if left out."`
}

// Tag replaces the tags of a memory item.
func (ms *Memories) Tag(ctx context.Context, c caller.Caller, in TagInput) (Item, error) {
	return ms.change(ctx, c, "tag", in.ID, in, func(by memory.Reader) memory.Command {
		return memory.Tag{By: by, ID: in.ID, Tags: in.Tags}
	})
}
