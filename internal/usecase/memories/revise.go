package memories

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// ReviseInput adds a version to a memory item.
type ReviseInput struct {
	ID     string `json:"id,omitempty" doc:"Of the item."`
	Text   string `json:"text" doc:"What it says from now on, in full." minLength:"1"`
	Title  string `json:"title,omitempty" doc:"Left out: as it was."`
	Expect int    `json:"expect,omitempty" minimum:"0" doc:"The newest version as you know it; refused if there is a newer one. Left out: whatever it is."`
}

// Revise adds a version to a memory item, as its author or an operator. References to earlier ones then show that there
// is a newer one.
func (ms *Memories) Revise(ctx context.Context, c caller.Caller, in ReviseInput) (Item, error) {
	salt, err := ms.salt()
	if err != nil {
		return Item{}, err
	}
	return ms.change(ctx, c, "revise", in.ID, in, func(by memory.Reader) memory.Command {
		return memory.Revise{By: by, ID: in.ID, Expect: in.Expect, Content: memory.Content{Title: in.Title, Text: in.Text, Salt: salt}}
	})
}
