package conversations

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/conversation/conversationid"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
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
	Text  string // words, each of which must be in its name, the name of a speaker or a turn that the caller may read
	After string // id of the last conversation of the page before
	Limit int    // at most this many; 0 means 50
}

// ConversationList is one page of a list of conversations.
type ConversationList struct {
	Conversations []Conversation
	Next          string // the After of the next page; empty at the end
}

// List lists the conversations that the caller may read, the one that began last first: without their turns, or with the turns that
// have the words of a search, which are recorded as one read. A search may give a short page that has a next one.
func (cs *Conversations) List(ctx context.Context, c caller.Caller, in ConversationsInput) (ConversationList, error) {
	list, err := cs.list(ctx, c, in)
	if err != nil {
		return ConversationList{}, cs.access.Refused(ctx, c.Workspace, c.Actor(), "conversations", "", err)
	}
	return list, nil
}

func (cs *Conversations) list(ctx context.Context, c caller.Caller, in ConversationsInput) (list ConversationList, err error) {
	f, err := cs.filter(ctx, c, in)
	if err != nil {
		return list, err
	}
	s := cs.newSearch(c, in.Text)
	limit := f.Limit
	if len(s.words) > 0 {
		f.Limit = view.MaxPage
	}
	for more := true; more && list.Next == ""; {
		states, err := cs.store.views.Conversations(ctx, c.Workspace, f)
		if err != nil {
			return list, stream.Unavailable(err)
		}
		more = len(states) == f.Limit
		for _, state := range states {
			f.After = state.ID
			if !conversation.MayRead(state, f.By) {
				continue
			}
			turns, is, err := s.find(ctx, state)
			if err != nil {
				return list, err
			}
			if is {
				found := conversationOf(state)
				found.Turns = turns
				list.Conversations = append(list.Conversations, found)
			}
			if len(list.Conversations) == limit || s.tired() {
				list.Next = state.ID
				break
			}
		}
	}
	return list, s.record(ctx, list.Conversations)
}

// filter checks a list's input, and is what views make of it.
func (cs *Conversations) filter(ctx context.Context, c caller.Caller, in ConversationsInput) (f view.ConversationFilter, err error) {
	if err := c.May(identity.ReadOwn, "list conversations"); err != nil {
		return f, err
	}
	limit, err := page.Limit(in.Limit, usualPage)
	if err == nil && in.Agent != "" {
		err = event.CheckAgent("agent", in.Agent)
	}
	if err == nil && in.Task != "" {
		err = event.CheckTaskID(in.Task)
	}
	if err == nil && in.After != "" {
		err = refusal.In("after", conversationid.Check(in.After))
	}
	if err == nil && len(in.Text) > maxSearchText {
		err = refusal.New(refusal.TooLarge, "[search for fewer words](conversation list)", "the text to search for has %d bytes, more than %d", len(in.Text), maxSearchText)
	}
	if err == nil {
		in.Agent, err = cs.agents.Identity(ctx, c.Workspace, in.Agent)
	}
	if err != nil {
		return f, err
	}
	f = view.ConversationFilter{By: memory.Reader{Principal: c.Principal}, Agent: in.Agent, Task: in.Task, After: in.After, Limit: limit}
	err = cs.partnerOfAll(ctx, c, &f)
	return f, err
}

// others says, for a message, which conversations of a name a caller has a part in.
func (cs *Conversations) others(ctx context.Context, c caller.Caller, name string) (string, error) {
	if _, owner := conversationid.Parse(name); owner != "" {
		return "", nil
	}
	f := view.ConversationFilter{By: memory.Reader{Principal: c.Principal}, Name: name}
	if err := cs.partnerOfAll(ctx, c, &f); err != nil {
		return "", err
	}
	ids, err := cs.store.named(ctx, c.Workspace, f)
	return shownIDs(ids), err
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
		if carried != "" {
			f.By.Conversations = append(f.By.Conversations, carried)
		}
	}
	return nil
}
