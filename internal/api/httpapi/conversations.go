package httpapi

import (
	"context"
	"net/http"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// ConversationPage is one page of a list of conversations.
type ConversationPage struct {
	Conversations []memories.Conversation `json:"conversations"`
	Next          string                  `json:"next,omitempty" doc:"The parameter after of the next page; absent at the end."`
	Position      uint64                  `json:"position" doc:"Up to which the list is complete."`
}

// At implements [endpoint.Placed].
func (p ConversationPage) At() uint64 { return p.Position }

type conversationsQuery struct {
	endpoint.Reading
	endpoint.Page
	Agent string `query:"agent" maxLength:"64" doc:"Only conversations in which this agent has spoken."`
	Task  string `query:"task" maxLength:"80" doc:"Only conversations with a turn of this task."`
}

type conversationQuery struct {
	endpoint.Reading
	ID     string `path:"id" maxLength:"80" doc:"Id, as other answers give it."`
	Limit  int    `query:"limit" minimum:"1" maximum:"500" doc:"At most this many turns, the last ones; 50 if left out."`
	Before int    `query:"before" minimum:"1" doc:"Only turns before this one."`
}

type continuityQuery struct {
	endpoint.Reading
	ID     string `path:"id" maxLength:"80" doc:"Id, as other answers give it."`
	Budget int    `query:"budget" minimum:"200" maximum:"65536" doc:"The most bytes of text; 4000 if left out."`
}

func (s *service) conversations() {
	endpoint.Read(s.door, endpoint.Route{Path: "/v1/conversations", ID: "list-conversations", Summary: "List the conversations that you have a part in", Tag: endpoint.TagConversations},
		s.listConversations)
	endpoint.Read(s.door, endpoint.Route{
		Path: "/v1/conversations/{id}", ID: "show-conversation", Summary: "Read the last turns of a conversation", About: "The read is on record.",
		Tag: endpoint.TagConversations,
	}, func(ctx context.Context, c tasks.Caller, in *conversationQuery) (memories.Conversation, error) {
		return s.app.Conversation(ctx, c, memories.ConversationInput{ID: in.ID, Limit: in.Limit, Before: in.Before})
	})
	endpoint.Read(s.door, endpoint.Route{
		Path: "/v1/conversations/{id}/continuity", ID: "continuity", Summary: "What lets the next agent carry on", Tag: endpoint.TagConversations,
		About: "A text that names the previous agents and the changes of hands, with the first request and the last turns. The read is on record.",
	}, func(ctx context.Context, c tasks.Caller, in *continuityQuery) (memories.Continuity, error) {
		return s.app.Continuity(ctx, c, memories.ContinuityInput{ID: in.ID, Budget: in.Budget})
	})
	endpoint.Change(s.door, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/conversations/{id}/turns", ID: "append-turn", Summary: "Add a turn", Tag: endpoint.TagConversations,
		About: "The first turn begins a conversation.", Status: http.StatusCreated,
	}, func(ctx context.Context, c tasks.Caller, id string, in memories.AppendTurnInput) (memories.Said, error) {
		in.Conversation = id
		return s.app.AppendTurn(ctx, c, in)
	})
}

func (s *service) listConversations(ctx context.Context, c tasks.Caller, in *conversationsQuery) (ConversationPage, error) {
	if in.Limit == 0 {
		in.Limit = endpoint.UsualPage
	}
	page := ConversationPage{Position: uint64(s.app.Views().Position())}
	list, err := s.app.Conversations(ctx, c, memories.ConversationsInput{Agent: in.Agent, Task: in.Task, After: in.Page.After, Limit: in.Limit})
	if len(list) == in.Limit {
		page.Next = list[len(list)-1].ID
	}
	page.Conversations = endpoint.NotNil(list)
	return page, err
}
