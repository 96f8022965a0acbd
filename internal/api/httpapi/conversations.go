package httpapi

import (
	"context"
	"net/http"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/conversations"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
)

// ConversationPage is one page of a list of conversations.
type ConversationPage struct {
	Conversations []conversations.Conversation `json:"conversations"`
	Next          string                       `json:"next,omitempty" doc:"Parameter after for the next page; absent on the last page."`
	endpoint.Listed
}

type conversationsQuery struct {
	endpoint.Reading
	endpoint.Page
	Agent string `query:"agent" maxLength:"64" doc:"Only conversations with a turn of this agent."`
	Task  string `query:"task" maxLength:"80" doc:"Only conversations with a turn of this task."`
	Text  string `query:"text" maxLength:"200" doc:"Words, each of which must be in the id, the name of a speaker or a turn that you may read. The last turns with them are in the answer, and the read is recorded. A page can be short and have a next one."`
}

type conversationQuery struct {
	endpoint.Reading
	ID     string `path:"id" maxLength:"140" doc:"The id, NAME~AGENT, or the name of your own."`
	Limit  int    `query:"limit" minimum:"1" maximum:"500" doc:"Maximum number of turns, the last ones; 50 if omitted."`
	Before int    `query:"before" minimum:"1" doc:"Only turns before this one."`
}

type continuityQuery struct {
	endpoint.Reading
	ID     string `path:"id" maxLength:"140" doc:"The id, NAME~AGENT, or the name of your own."`
	Budget int    `query:"budget" minimum:"200" maximum:"65536" doc:"Maximum size of the text in bytes; 4000 if omitted."`
}

func (s *service) conversations() {
	endpoint.Read(s.router, endpoint.Route{Path: "/v1/conversations", ID: "list-conversations", Summary: "List the conversations that you take part in", Tag: endpoint.TagConversations},
		s.listConversations)
	endpoint.Read(s.router, endpoint.Route{
		Path: "/v1/conversations/{id}", ID: "show-conversation", Summary: "Read the last turns of a conversation", About: "The read is recorded.",
		Tag: endpoint.TagConversations,
	}, func(ctx context.Context, c caller.Caller, in *conversationQuery) (conversations.Conversation, error) {
		return s.app.Conversations.Show(ctx, c, conversations.ConversationInput{ID: in.ID, Limit: in.Limit, Before: in.Before})
	})
	endpoint.Read(s.router, endpoint.Route{
		Path: "/v1/conversations/{id}/continuity", ID: "continuity", Summary: "Summarize a conversation for the next agent", Tag: endpoint.TagConversations,
		About: "A text with the previous agents and the handoffs between them, the first request and the last turns. The read is recorded.",
	}, func(ctx context.Context, c caller.Caller, in *continuityQuery) (conversations.Continuity, error) {
		return s.app.Conversations.Continuity(ctx, c, conversations.ContinuityInput{ID: in.ID, Budget: in.Budget})
	})
	endpoint.Change(s.router, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/conversations/{id}/turns", ID: "append-turn", Summary: "Add a turn to a conversation", Tag: endpoint.TagConversations,
		About: "The first turn creates the conversation. A name is that of the caller, or of the conversation to which the task belongs; what others have under the same name are other conversations. The answer has the id, NAME~AGENT, by which others name it.", Status: http.StatusCreated,
	}, endpoint.Under(func(in *conversations.AppendTurnInput) *string { return &in.Conversation }, s.app.Conversations.AppendTurn))
}

func (s *service) listConversations(ctx context.Context, c caller.Caller, in *conversationsQuery) (ConversationPage, error) {
	if in.Limit == 0 {
		in.Limit = endpoint.UsualPage
	}
	page := ConversationPage{Listed: endpoint.Listed{Position: s.app.Positions.Viewed()}}
	list, err := s.app.Conversations.List(ctx, c, conversations.ConversationsInput{Agent: in.Agent, Task: in.Task, Text: in.Text, After: in.Page.After, Limit: in.Limit})
	page.Conversations, page.Next = endpoint.NotNil(list.Conversations), list.Next
	return page, err
}
