package conversations

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/page"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// ConversationsInput narrows a list of conversations. Zero fields do not.
type ConversationsInput struct {
	Agent string // who has spoken in it, by name
	Task  string // that a turn belongs to
	After string // id of the last conversation of the page before
	Limit int    // at most this many; 0 means 50
}

// List lists the conversations that the caller may read, without their turns, the one that began last first.
func (cs *Conversations) List(ctx context.Context, c caller.Caller, in ConversationsInput) ([]Conversation, error) {
	list, err := cs.list(ctx, c, in)
	if err != nil {
		return nil, cs.access.Refused(ctx, c.Workspace, c.Actor(), "conversations", "", err)
	}
	return list, nil
}

func (cs *Conversations) list(ctx context.Context, c caller.Caller, in ConversationsInput) ([]Conversation, error) {
	if err := c.May(identity.ReadOwn, "list conversations"); err != nil {
		return nil, err
	}
	limit, err := page.Limit(in.Limit, usualPage)
	if err == nil && in.Agent != "" {
		err = event.CheckAgent("agent", in.Agent)
	}
	if err == nil && in.Task != "" {
		err = event.CheckTaskID(in.Task)
	}
	if err == nil && in.After != "" {
		err = conversation.CheckID(in.After)
	}
	if err != nil {
		return nil, err
	}
	f := view.ConversationFilter{By: memory.Reader{Principal: c.Principal}, Agent: in.Agent, Task: in.Task, After: in.After, Limit: limit}
	if err := cs.partnerOfAll(ctx, c, &f); err != nil {
		return nil, err
	}
	if f.After != "" {
		if f.After, err = cs.store.Resolve(ctx, c.Workspace, f.By, f.After); err != nil {
			return nil, err
		}
	}
	states, err := cs.store.views.Conversations(ctx, c.Workspace, f)
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	list := make([]Conversation, 0, len(states))
	for _, s := range states {
		if !conversation.MayRead(s, f.By) {
			continue
		}
		shown := conversationOf(s)
		if shown.ID, err = cs.store.shown(ctx, c.Workspace, f.By, s.ID); err != nil {
			return nil, err
		}
		list = append(list, shown)
	}
	return list, nil
}

// partnerOfAll gives a filter's asker those of its tasks and conversations that can matter to a list.
func (cs *Conversations) partnerOfAll(ctx context.Context, c caller.Caller, f *view.ConversationFilter) error {
	if f.By.ReadsAny() {
		return nil
	}
	ids, err := cs.store.views.GrantingTasks(ctx, c.Workspace, f.By.String(), view.MaxPage)
	if err != nil {
		return stream.Unavailable(err)
	}
	for _, id := range ids {
		t, err := cs.store.tasks.Find(ctx, c.Workspace, id)
		if err != nil {
			return err
		}
		if !taskstore.AddPart(&f.By, t) {
			continue
		}
		carried, err := cs.store.carriedBy(ctx, c.Workspace, t, f.By.Principal)
		if err != nil {
			return err
		}
		f.By.Conversations = append(f.By.Conversations, carried...)
	}
	return nil
}
