package memories

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// AppendTurnInput adds a turn to a conversation.
type AppendTurnInput struct {
	Conversation string            `json:"conversation,omitempty" doc:"Its id, a name. The first turn begins it."`
	Role         conversation.Role `json:"role" doc:"What the speaker is."`
	Text         string            `json:"text" doc:"What was said." minLength:"1"`
	Agent        string            `json:"agent,omitempty" doc:"In whose session it was said: for operators, who log what others said. Agents leave it out."`
	Task         string            `json:"task,omitempty" doc:"In the course of which task; one that you take part in. Whoever holds it may go on with the conversation."`
	Handoff      string            `json:"handoff,omitempty" doc:"And of which of its handoffs."`
}

// Said is the answer to a turn.
type Said struct {
	Conversation string          `json:"conversation"`
	Turn         int             `json:"turn" doc:"Its number, from 1."`
	Position     ledger.Position `json:"position"`
	Repeat       bool            `json:"repeat,omitempty" doc:"This is the answer to the first call with the same key."`
}

// At is up to where on record the answer is true.
func (s Said) At() uint64 { return uint64(s.Position) }

// AppendTurn adds a turn to a conversation, and begins it if there is none of that name. Agents add to conversations in
// which they have spoken, or that belong to a task that they take part in.
func (b *Base) AppendTurn(ctx context.Context, c caller.Caller, in AppendTurnInput) (Said, error) {
	said, err := b.appendTurn(ctx, c, in)
	if err != nil {
		return Said{}, b.access.Refused(ctx, c.Workspace, c.Actor(), "append-turn", in.Conversation, err)
	}
	return said, nil
}

func (b *Base) appendTurn(ctx context.Context, c caller.Caller, in AppendTurnInput) (Said, error) {
	if err := c.May(identity.ActOwn, "add to a conversation"); err != nil {
		return Said{}, err
	}
	if err := conversation.CheckID(in.Conversation); err != nil {
		return Said{}, err
	}
	request, err := c.Digest("append-turn", in)
	if err != nil {
		return Said{}, err
	}
	task := in.Task
	if of, _, err := event.ParseHandoffID(in.Handoff); err == nil && task == "" {
		task = of
	}
	out, err := b.talks.Do(ctx, c.Write(request), talkStream(c.Workspace, in.Conversation), func(s conversation.State, now time.Time) ([]conversation.Event, error) {
		by, err := b.partner(ctx, c.Workspace, memory.Reader{Principal: c.Principal}, s)
		if err == nil {
			err = b.join(ctx, c.Workspace, &by, task)
		}
		if err != nil {
			return nil, err
		}
		return conversation.Decide(s, conversation.Append{
			By: by, Conversation: in.Conversation, Agent: in.Agent, Role: in.Role, Text: in.Text, Task: in.Task, Handoff: in.Handoff,
		}, now)
	})
	if err != nil {
		return Said{}, err
	}
	return Said{Conversation: in.Conversation, Turn: out.State.Turns, Position: out.At, Repeat: out.Repeat}, nil
}

// Conversation is a conversation as callers get it, with some of its turns or none.
type Conversation struct {
	ID       string                 `json:"id"`
	Count    int                    `json:"count" doc:"How many turns it has."`
	Speakers []conversation.Speaker `json:"speakers" doc:"Which agents have spoken how often, in order of their first turn."`
	Tasks    []string               `json:"tasks,omitempty" doc:"That turns belong to."`
	Handoffs []string               `json:"handoffs,omitempty" doc:"That turns belong to."`
	Created  time.Time              `json:"created"`
	Updated  time.Time              `json:"updated"`
	Turns    []conversation.Turn    `json:"turns,omitempty" doc:"Oldest first."`
	Position ledger.Position        `json:"position,omitempty"`
}

// At is up to where on record the answer is true.
func (c Conversation) At() uint64 { return uint64(c.Position) }

func conversationOf(s conversation.State) Conversation {
	return Conversation{
		ID: s.ID, Count: s.Turns, Speakers: s.Speakers, Tasks: s.Tasks, Handoffs: s.Handoffs, Created: s.CreatedAt, Updated: s.UpdatedAt,
	}
}

// ConversationInput asks for a conversation.
type ConversationInput struct {
	ID     string
	Limit  int // at most this many turns, the last ones; 0 means 50
	Before int // only turns before this number; 0: no bound
}

// Conversation gives the last turns of a conversation that the caller may read. The read is on record.
func (b *Base) Conversation(ctx context.Context, c caller.Caller, in ConversationInput) (Conversation, error) {
	out, err := b.conversation(ctx, c, in)
	if err != nil {
		return Conversation{}, b.access.Refused(ctx, c.Workspace, c.Actor(), "conversation", in.ID, err)
	}
	return out, nil
}

func (b *Base) conversation(ctx context.Context, c caller.Caller, in ConversationInput) (Conversation, error) {
	limit, err := limitOf(in.Limit, usualPage)
	if err == nil && in.Before < 0 {
		err = refusal.New(refusal.Invalid, "turns are numbered from 1", "there is no turn %d", in.Before)
	}
	if err != nil {
		return Conversation{}, err
	}
	f, err := b.talkFor(ctx, c, in.ID)
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
	if out.Turns, err = b.turns(ctx, c.Workspace, f, last-limit, limit); err != nil {
		return Conversation{}, err
	}
	return out, b.access.Read(ctx, c.Workspace, c.Actor(), "", "conversation "+in.ID, "")
}

// talkFor is a fresh read of a conversation that the caller may read.
func (b *Base) talkFor(ctx context.Context, c caller.Caller, id string) (stream.Folded[conversation.State], error) {
	var none stream.Folded[conversation.State]
	if err := c.May(identity.ReadOwn, "read a conversation"); err != nil {
		return none, err
	}
	if err := conversation.CheckID(id); err != nil {
		return none, err
	}
	f, err := b.talks.Load(ctx, talkStream(c.Workspace, id), true)
	if err != nil {
		return none, err
	}
	by, err := b.partner(ctx, c.Workspace, memory.Reader{Principal: c.Principal}, f.State)
	if err != nil {
		return none, err
	}
	if !conversation.MayRead(f.State, by) {
		return none, refusal.New(refusal.NotFound, "list the conversations that you have a part in", "you have no part in a conversation %s", id)
	}
	return f, nil
}

// turns are some turns of a conversation, from the views, once they have all of it.
func (b *Base) turns(ctx context.Context, workspace string, f stream.Folded[conversation.State], after, limit int) ([]conversation.Turn, error) {
	if limit <= 0 {
		return nil, nil
	}
	if err := b.views.Wait(ctx, f.Head); err != nil {
		return nil, stream.Unavailable(err)
	}
	list, err := b.views.Turns(ctx, workspace, f.State.ID, after, limit)
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	return list, nil
}

// ConversationsInput narrows a list of conversations. Zero fields do not.
type ConversationsInput struct {
	Agent string // who has spoken in it, by name
	Task  string // that a turn belongs to
	After string // id of the last conversation of the page before
	Limit int    // at most this many; 0 means 50
}

// Conversations lists the conversations that the caller may read, without their turns, the one that began last first.
func (b *Base) Conversations(ctx context.Context, c caller.Caller, in ConversationsInput) ([]Conversation, error) {
	list, err := b.conversations(ctx, c, in)
	if err != nil {
		return nil, b.access.Refused(ctx, c.Workspace, c.Actor(), "conversations", "", err)
	}
	return list, nil
}

func (b *Base) conversations(ctx context.Context, c caller.Caller, in ConversationsInput) ([]Conversation, error) {
	if err := c.May(identity.ReadOwn, "list conversations"); err != nil {
		return nil, err
	}
	limit, err := limitOf(in.Limit, usualPage)
	if err == nil && in.Agent != "" {
		err = event.CheckName("agent", in.Agent)
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
	if err := b.partnerOfAll(ctx, c, &f); err != nil {
		return nil, err
	}
	states, err := b.views.Conversations(ctx, c.Workspace, f)
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	list := make([]Conversation, 0, len(states))
	for _, s := range states {
		if conversation.MayRead(s, f.By) {
			list = append(list, conversationOf(s))
		}
	}
	return list, nil
}

// partnerOfAll gives a filter's asker those of its tasks and conversations that can matter to a list.
func (b *Base) partnerOfAll(ctx context.Context, c caller.Caller, f *view.ConversationFilter) error {
	if f.By.ReadsAny() {
		return nil
	}
	ids, err := b.views.TasksOf(ctx, c.Workspace, f.By.String(), view.MaxPage)
	if err != nil {
		return stream.Unavailable(err)
	}
	for _, id := range ids {
		t, err := b.tasks.Load(ctx, c.Workspace, id)
		if err != nil {
			return err
		}
		if !takesPart(t, f.By.Principal) {
			continue
		}
		f.By.Tasks = append(f.By.Tasks, id)
		if t.Conversation == "" {
			continue
		}
		s, err := b.talks.Load(ctx, talkStream(c.Workspace, t.Conversation), false)
		if err != nil {
			return err
		}
		carries, err := b.carries(ctx, c.Workspace, t, s.State, f.By.Principal)
		if err != nil {
			return err
		}
		if carries {
			f.By.Conversations = append(f.By.Conversations, s.State.ID)
		}
	}
	return nil
}
