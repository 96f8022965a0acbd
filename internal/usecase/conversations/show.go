package conversations

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/page"
)

// ConversationInput asks for a conversation.
type ConversationInput struct {
	ID     string
	Limit  int // at most this many turns, the last ones; 0 means 50
	Before int // only turns before this number; 0: no bound
}

// Show gives the last turns of a conversation that the caller may read. The read is recorded.
func (cs *Conversations) Show(ctx context.Context, c caller.Caller, in ConversationInput) (Conversation, error) {
	out, err := cs.show(ctx, c, in)
	if err != nil {
		return Conversation{}, cs.access.Refused(ctx, c.Workspace, c.Actor(), "conversation", in.ID, err)
	}
	return out, nil
}

func (cs *Conversations) show(ctx context.Context, c caller.Caller, in ConversationInput) (Conversation, error) {
	limit, err := page.Limit(in.Limit, usualPage)
	if err == nil && in.Before < 0 {
		err = refusal.New(refusal.Invalid, "turns are numbered from 1", "there is no turn %d", in.Before)
	}
	if err != nil {
		return Conversation{}, err
	}
	f, by, err := cs.find(ctx, c, in.ID)
	if err != nil {
		return Conversation{}, err
	}
	out := conversationOf(f.State)
	out.Position = f.Head
	last := f.State.Turns
	if in.Before > 0 {
		last = min(last, in.Before-1)
	}
	limit = min(limit, last)
	turns, err := cs.store.turns(ctx, c.Workspace, f, last-limit, limit)
	if err != nil {
		return Conversation{}, err
	}
	out.Turns = readable(f.State, by, turns)
	return out, cs.access.Read(ctx, c.Workspace, c.Actor(), "", "conversation "+out.ID, "")
}
