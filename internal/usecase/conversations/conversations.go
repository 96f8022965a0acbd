package conversations

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/conversation/conversationid"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// usualPage is how many turns or conversations are listed where the caller does not say.
const usualPage = 50

// Conversations is the use cases of conversations. Its methods are safe for many goroutines.
type Conversations struct {
	store  *Store
	agents *agents.Store
	access *access.Log
}

// New returns the use cases of the conversations of a store.
func New(s *Store, known *agents.Store, log *access.Log) *Conversations {
	return &Conversations{store: s, agents: known, access: log}
}

// Conversation is a conversation as callers get it, with some of its turns or none.
type Conversation struct {
	ID       string                 `json:"id" doc:"NAME~AGENT: the agent that calls it NAME, or operator."`
	Count    int                    `json:"count" doc:"How many turns it has."`
	Speakers []conversation.Speaker `json:"speakers" doc:"Which agents have spoken how often, in order of their first turn."`
	Tasks    []string               `json:"tasks,omitempty" doc:"That turns belong to."`
	Handoffs []string               `json:"handoffs,omitempty" doc:"That turns belong to."`
	Created  time.Time              `json:"created"`
	Updated  time.Time              `json:"updated"`
	Turns    []conversation.Turn    `json:"turns,omitempty" doc:"Oldest first."`
	Position ledger.Position        `json:"position,omitempty"`
}

// At returns the position up to which the answer is true.
func (c Conversation) At() ledger.Position { return c.Position }

func conversationOf(s conversation.State) Conversation {
	return Conversation{
		ID: s.ID, Count: s.Turns, Speakers: s.Speakers, Tasks: s.Tasks, Handoffs: s.Handoffs, Created: s.CreatedAt, Updated: s.UpdatedAt,
	}
}

// find is a fresh read of a conversation that the caller may read, and the caller as its reader.
func (cs *Conversations) find(ctx context.Context, c caller.Caller, id string) (f stream.Folded[conversation.State], by memory.Reader, err error) {
	var none stream.Folded[conversation.State]
	if err := c.May(identity.ReadOwn, "read a conversation"); err != nil {
		return none, by, err
	}
	if err := refusal.In("id", conversationid.Check(id)); err != nil {
		return none, by, err
	}
	r := memory.Reader{Principal: c.Principal}
	means, err := cs.store.Resolve(ctx, c.Workspace, r, id)
	if err != nil {
		return none, by, err
	}
	f, err = cs.store.Load(ctx, StreamOf(c.Workspace, means), true)
	if err != nil {
		return none, by, err
	}
	by, err = cs.store.Partner(ctx, c.Workspace, r, f.State)
	if err != nil {
		return none, by, err
	}
	if conversation.MayRead(f.State, by) {
		return f, by, nil
	}
	others, err := cs.others(ctx, c, id)
	if err == nil {
		err = unknown(id)
	}
	if others != "" {
		err = refusal.New(refusal.NotFound, "name it by its id", "you have no conversation %s of your own, but a part in %s", id, others)
	}
	return none, by, err
}

// unknown is said of conversations that are not there and of those that the caller may not read alike.
func unknown(id string) error {
	return refusal.New(refusal.NotFound, "[list the conversations](conversation list) that you have a part in, or [begin another](conversation log)", "you have no part in a conversation %s", id)
}
