package conversations

import (
	"cmp"
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/conversation/conversationid"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// AppendTurnInput adds a turn to a conversation.
type AppendTurnInput struct {
	Conversation string            `json:"conversation,omitempty" doc:"A name, which is the conversation of the task, if that has the name, or the caller's own; or an id, NAME~AGENT. The first turn begins it."`
	Role         conversation.Role `json:"role" doc:"What the speaker is."`
	Text         string            `json:"text" doc:"What was said." minLength:"1"`
	Agent        string            `json:"agent,omitempty" doc:"In whose session it was said: for operators, who log what others said. Agents leave it out."`
	Task         string            `json:"task,omitempty" doc:"Id of a task that you take part in, in the course of which it was said. The holders of the task may continue the conversation."`
	Handoff      string            `json:"handoff,omitempty" doc:"And of which of its handoffs."`
	Subject      string            `json:"subject,omitempty" maxLength:"128" doc:"Whom or what the conversation is about, such as patient/4711: all that has the subject can be erased by it. The agent whose conversation it is says it, or an operator. A conversation keeps the first that it is given; it stays readable." example:"patient/4711"`
}

// Said is the answer to a turn.
type Said struct {
	Conversation string          `json:"conversation" doc:"Its id."`
	Turn         int             `json:"turn" doc:"Its number, from 1."`
	Position     ledger.Position `json:"position"`
	Repeat       bool            `json:"repeat,omitempty" doc:"This is the answer to the first call with the same key."`
}

// At returns the position up to which the answer is true.
func (s Said) At() ledger.Position { return s.Position }

// AppendTurn adds a turn to a conversation, and begins it if it is the caller's own or that of a task which it takes part in. Agents add to
// their own conversations, to those in which they have spoken, and to those that belong to a task that they requested or own. What an operator logs for an agent is in
// that agent's conversations.
func (cs *Conversations) AppendTurn(ctx context.Context, c caller.Caller, in AppendTurnInput) (Said, error) {
	said, err := cs.appendTurn(ctx, c, in)
	if err != nil {
		return Said{}, cs.access.Refused(ctx, c.Workspace, c.Actor(), "append-turn", in.Conversation, err)
	}
	return said, nil
}

func (cs *Conversations) appendTurn(ctx context.Context, c caller.Caller, in AppendTurnInput) (Said, error) {
	if err := c.May(identity.ActOwn, "add to a conversation"); err != nil {
		return Said{}, err
	}
	if err := cmp.Or(refusal.In("id", conversationid.Check(in.Conversation)), event.CheckOptionalAgent("agent", in.Agent)); err != nil {
		return Said{}, err
	}
	request, err := c.Digest("append-turn", in)
	if err != nil {
		return Said{}, err
	}
	if in.Agent, err = cs.agents.Identity(ctx, c.Workspace, in.Agent); err != nil {
		return Said{}, err
	}
	task := in.Task
	if of, _, err := event.ParseHandoffID(in.Handoff); err == nil && task == "" {
		task = of
	}
	id, begins, err := cs.store.addressed(ctx, c, in, task)
	if err != nil {
		return Said{}, err
	}
	out, err := cs.store.Do(ctx, c.Write(request), StreamOf(c.Workspace, id), func(s conversation.State, now time.Time) ([]conversation.Event, error) {
		by, err := cs.store.Partner(ctx, c.Workspace, memory.Reader{Principal: c.Principal}, s)
		speaker := by
		if err == nil && in.Agent != "" && in.Agent != by.Agent() { // logged for it
			speaker, err = cs.store.Partner(ctx, c.Workspace, memory.Reader{Principal: speakerOf(c, in)}, s)
		}
		if err == nil {
			err = taskstore.Join(ctx, cs.store.tasks, c.Workspace, &by, task)
		}
		if err != nil {
			return nil, err
		}
		if !s.Exists() && !begins || s.Exists() && !conversation.MayRead(s, by) {
			return nil, unknown(in.Conversation)
		}
		holds, err := cs.store.holds(ctx, c.Workspace, by, s)
		if err != nil {
			return nil, err
		}
		return conversation.Decide(s, conversation.AppendTurn{
			Holds: holds, By: by, Conversation: id, Agent: in.Agent, Role: in.Role, Text: in.Text, Task: in.Task, Handoff: in.Handoff, Subject: in.Subject,
			Since: heardSince(speaker),
		}, now)
	})
	if err != nil {
		return Said{}, err
	}
	return Said{Conversation: id, Turn: out.State.Turns, Position: out.At, Repeat: out.Repeat}, nil
}

// speakerOf is the agent in whose session a turn was said.
func speakerOf(c caller.Caller, in AppendTurnInput) identity.Principal {
	if in.Agent == "" || c.Agent() != "" {
		return c.Principal
	}
	return identity.Principal{Workspace: c.Workspace, Role: identity.Agent, Name: in.Agent}
}

// addressed returns the conversation that a turn is for, and whether the turn may begin it: the conversation of the task in the course of which it was said, if that has the
// name, or the speaker's own.
func (st *Store) addressed(ctx context.Context, c caller.Caller, in AppendTurnInput, task string) (id string, begins bool, err error) {
	if id, err = st.inTask(ctx, c.Workspace, c.Principal, in.Conversation, task); err != nil {
		return "", false, err
	}
	if id != "" {
		t, err := st.tasks.Find(ctx, c.Workspace, task)
		return id, c.May(identity.ReadAny, "read a conversation") == nil || holdsTask(t, c.String()) || id == ownID(c.Principal, conversationid.Name(id)), err
	}
	speaker := memory.Reader{Principal: speakerOf(c, in)}
	id, err = st.Resolve(ctx, c.Workspace, speaker, in.Conversation)
	return id, id == ownID(speaker.Principal, conversationid.Name(id)), err
}
