package httpapi

import (
	"context"
	"net/http"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/knowledge"
)

const tagConversations = "Conversations"

// ConversationPage is one page of a list of conversations.
type ConversationPage struct {
	Conversations []knowledge.Conversation `json:"conversations"`
	Next          string                   `json:"next,omitempty" doc:"The parameter after of the next page; absent at the end."`
	Position      uint64                   `json:"position" doc:"Up to which the list is complete."`
}

func (p ConversationPage) position() uint64 { return p.Position }

type conversationsQuery struct {
	Reading
	Page
	Agent string `query:"agent" maxLength:"64" doc:"Only conversations in which this agent has spoken."`
	Task  string `query:"task" maxLength:"80" doc:"Only conversations with a turn of this task."`
}

type conversationQuery struct {
	Reading
	ID     string `path:"id" maxLength:"80" doc:"Id, as other answers give it."`
	Limit  int    `query:"limit" minimum:"1" maximum:"500" doc:"At most this many turns, the last ones; 50 if left out."`
	Before int    `query:"before" minimum:"1" doc:"Only turns before this one."`
}

type continuityQuery struct {
	Reading
	ID     string `path:"id" maxLength:"80" doc:"Id, as other answers give it."`
	Budget int    `query:"budget" minimum:"200" maximum:"65536" doc:"The most bytes of text; 4000 if left out."`
}

func (s *service) conversations() {
	read(s, route{path: "/v1/conversations", id: "list-conversations", summary: "List the conversations that you have a part in", tag: tagConversations},
		s.listConversations)
	read(s, route{
		path: "/v1/conversations/{id}", id: "show-conversation", summary: "Read the last turns of a conversation", about: "The read is on record.",
		tag: tagConversations,
	}, func(ctx context.Context, c app.Caller, in *conversationQuery) (knowledge.Conversation, error) {
		return s.app.Conversation(ctx, c, knowledge.ConversationInput{ID: in.ID, Limit: in.Limit, Before: in.Before})
	})
	read(s, route{
		path: "/v1/conversations/{id}/continuity", id: "continuity", summary: "What lets the next agent carry on", tag: tagConversations,
		about: "A text that names the previous agents and the changes of hands, with the first request and the last turns. The read is on record.",
	}, func(ctx context.Context, c app.Caller, in *continuityQuery) (knowledge.Continuity, error) {
		return s.app.Continuity(ctx, c, knowledge.ContinuityInput{ID: in.ID, Budget: in.Budget})
	})
	change(s, route{
		method: http.MethodPost, path: "/v1/conversations/{id}/turns", id: "append-turn", summary: "Add a turn", tag: tagConversations,
		about: "The first turn begins a conversation.", status: http.StatusCreated,
	}, func(ctx context.Context, c app.Caller, id string, in knowledge.AppendTurnInput) (knowledge.Said, error) {
		in.Conversation = id
		return s.app.AppendTurn(ctx, c, in)
	})
}

func (s *service) listConversations(ctx context.Context, c app.Caller, in *conversationsQuery) (ConversationPage, error) {
	if in.Limit == 0 {
		in.Limit = usualPage
	}
	page := ConversationPage{Position: uint64(s.app.Views().Position())}
	list, err := s.app.Conversations(ctx, c, knowledge.ConversationsInput{Agent: in.Agent, Task: in.Task, After: in.Page.After, Limit: in.Limit})
	if len(list) == in.Limit {
		page.Next = list[len(list)-1].ID
	}
	page.Conversations = notNil(list)
	return page, err
}
