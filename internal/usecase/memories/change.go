package memories

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
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
func (b *Base) Revise(ctx context.Context, c caller.Caller, in ReviseInput) (Item, error) {
	salt, err := b.salt()
	if err != nil {
		return Item{}, err
	}
	return b.change(ctx, c, "revise", in.ID, in, func(by memory.Reader) memory.Command {
		return memory.Revise{By: by, ID: in.ID, Expect: in.Expect, Content: memory.Content{Title: in.Title, Text: in.Text, Salt: salt}}
	})
}

// Pin puts a memory item into every envelope that may hold it, before others.
func (b *Base) Pin(ctx context.Context, c caller.Caller, id string) (Item, error) {
	return b.change(ctx, c, "pin", id, nil, func(by memory.Reader) memory.Command { return memory.Pin{By: by, ID: id} })
}

// Unpin undoes Pin.
func (b *Base) Unpin(ctx context.Context, c caller.Caller, id string) (Item, error) {
	return b.change(ctx, c, "unpin", id, nil, func(by memory.Reader) memory.Command { return memory.Unpin{By: by, ID: id} })
}

// TagInput replaces the tags of a memory item.
type TagInput struct {
	ID   string   `json:"id,omitempty" doc:"Of the item."`
	Tags []string `json:"tags,omitempty" doc:"All of them; none if left out."`
}

// Tag replaces the tags of a memory item.
func (b *Base) Tag(ctx context.Context, c caller.Caller, in TagInput) (Item, error) {
	return b.change(ctx, c, "tag", in.ID, in, func(by memory.Reader) memory.Command {
		return memory.Tag{By: by, ID: in.ID, Tags: in.Tags}
	})
}

// WeighInput says how important a memory item is.
type WeighInput struct {
	ID         string  `json:"id,omitempty" doc:"Of the item."`
	Importance float64 `json:"importance" minimum:"0" maximum:"1" doc:"From 0 (trivial) to 1 (vital)."`
}

// Weigh says how important a memory item is.
func (b *Base) Weigh(ctx context.Context, c caller.Caller, in WeighInput) (Item, error) {
	return b.change(ctx, c, "weigh", in.ID, in, func(by memory.Reader) memory.Command {
		return memory.Weigh{By: by, ID: in.ID, Importance: in.Importance}
	})
}

// Forget ends the giving out of a memory item's content, for good: to nobody, by no reference, and no search finds it.
// Envelopes that were sealed with its text keep it, and so does the record.
func (b *Base) Forget(ctx context.Context, c caller.Caller, id string) (Item, error) {
	return b.change(ctx, c, "forget", id, nil, func(by memory.Reader) memory.Command { return memory.Forget{By: by, ID: id} })
}

func (b *Base) change(ctx context.Context, c caller.Caller, verb, id string, in any, command func(memory.Reader) memory.Command) (Item, error) {
	x, err := b.tryChange(ctx, c, verb, id, in, command)
	if err != nil {
		return Item{}, b.access.Refused(ctx, c.Workspace, c.Actor(), verb, id, err)
	}
	return x, nil
}

func (b *Base) tryChange(ctx context.Context, c caller.Caller, verb, id string, in any, command func(memory.Reader) memory.Command) (Item, error) {
	if err := c.May(identity.ActOwn, verb+" a memory item"); err != nil {
		return Item{}, err
	}
	if err := memory.CheckID(id); err != nil {
		return Item{}, err
	}
	request, err := c.Digest(verb, in)
	if err != nil {
		return Item{}, err
	}
	at := itemStream(c.Workspace, id)
	out, err := b.items.Do(ctx, c.Write(request), at, func(s memory.State, now time.Time) ([]memory.Event, error) {
		by := memory.Reader{Principal: c.Principal}
		if !memory.MayChange(s, by) && s.Exists() { // to be told that it may not, it must be one that may read
			if err := b.join(ctx, c.Workspace, &by, s.Task); err != nil {
				return nil, err
			}
		}
		return memory.Decide(s, command(by), now)
	})
	if err != nil {
		return Item{}, err
	}
	return b.answer(ctx, at, out)
}
