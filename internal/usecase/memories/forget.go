package memories

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Forget makes the content of a memory item unreadable: no reference, search, envelope, trail or export gives its title,
// text or tags, not even to those who had them before. In an erasable record the key of its content is destroyed before the answer, and
// envelopes keep their copy under the keys of their tasks; otherwise the record keeps the content. An operator can export what it keeps. Copies that receivers or senders made, such as in a fact, stay.
func (ms *Memories) Forget(ctx context.Context, c caller.Caller, id string) (out Item, err error) {
	forget := func() (err error) {
		out, err = ms.change(ctx, c, "forget", id, nil, func(by memory.Reader) memory.Command { return memory.Forget{By: by, ID: id} })
		return err
	}
	if ms.meaning.opts.Erase == nil || memory.CheckID(id) != nil { // which is refused
		err = forget()
	} else {
		err = ms.meaning.opts.Erase(ctx, c.Workspace, id, forget)
	}
	return out, err
}
