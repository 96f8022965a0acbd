package mcpapi

import (
	"cmp"
	"context"
	"fmt"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/fit"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

type conversationInput struct {
	ID        string             `json:"id" jsonschema:"your name for it, or the id of another's"`
	Say       string             `json:"say,omitempty" jsonschema:"a turn to add; if omitted, the last turns are read"`
	Role      client.SpeakerRole `json:"role,omitempty" jsonschema:"who speaks; default assistant"`
	Task      string             `json:"task,omitempty"`
	Subject   string             `json:"subject,omitempty" set:"all" jsonschema:"with say: whom or what the conversation is about, to erase it by"`
	Limit     int                `json:"limit,omitempty" jsonschema:"turns to read, default 20"`
	Before    int                `json:"before,omitempty" jsonschema:"only turns before this one"`
	After     int                `json:"after,omitempty" jsonschema:"bytes of the last of them to skip, as the previous answer says"`
	Condensed bool               `json:"condensed,omitempty" set:"all" jsonschema:"instead: what the next agent needs to continue it: previous agents, changes of owner, first request, last turns"`
	Bytes     int                `json:"bytes,omitempty" set:"all" jsonschema:"with condensed: maximum size; default 4000"`
	Key       string             `json:"key,omitempty"`
}

var conversationTool = define[conversationInput, fit.Conversed]("conversation", "Log or read a conversation", tool.Changes,
	"Add a turn to a conversation that agents share, or read its last turns.",
	func(ctx context.Context, c *call, in conversationInput) (answer, error) {
		if in.Subject != "" && in.Say == "" || in.Say != "" && (in.Condensed || in.Before+in.After != 0) || in.Bytes != 0 && !in.Condensed || in.Condensed && (in.Limit != 0 || in.Before+in.After != 0) {
			return answer{}, invalid("say adds a turn (subject goes with it), limit, before and after read turns, condensed and bytes condense it: give one of the three")
		}
		if in.Say != "" {
			ctx = tool.Keyed(ctx, in.Key)
			s, err := c.AppendTurn(ctx, in.ID, client.TurnInput{Role: cmp.Or(in.Role, client.SpeakerAssistant), Text: in.Say, Task: in.Task, Subject: in.Subject})
			if err != nil {
				return answer{}, err
			}
			return answer{Text: fmt.Sprintf("Turn %d of %s was added.", s.Turn, s.Conversation), Data: fit.Conversed{ID: s.Conversation, Turn: s.Turn}}, nil
		}
		if in.Condensed {
			v, err := c.Continuity(ctx, in.ID, in.Bytes)
			return answer{Text: show.Quoted(v.Text), Data: fit.Conversed{ID: v.ID, Text: v.Text}}, err
		}
		if in.Limit == 0 {
			in.Limit = 20
		}
		v, err := c.Conversation(ctx, in.ID, client.ConversationOptions{Limit: in.Limit, Before: in.Before})
		if err != nil {
			return answer{}, err
		}
		return fit.Turns(ctx, c.Client, v, in.After)
	})
