package mcpapi

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

type conversationInput struct {
	ID        string             `json:"id" jsonschema:"any name for the conversation"`
	Say       string             `json:"say,omitempty" jsonschema:"a turn to add; if omitted, the last turns are read"`
	Role      client.SpeakerRole `json:"role,omitempty" jsonschema:"who speaks; default assistant"`
	Task      string             `json:"task,omitempty"`
	Limit     int                `json:"limit,omitempty" jsonschema:"turns to read, default 20"`
	Before    int                `json:"before,omitempty" set:"all" jsonschema:"only turns before this one"`
	Condensed bool               `json:"condensed,omitempty" set:"all" jsonschema:"instead: what the next agent needs to continue it: previous agents, changes of owner, first request, last turns"`
	Bytes     int                `json:"bytes,omitempty" set:"all" jsonschema:"with condensed: maximum size; default 4000"`
	Key       string             `json:"key,omitempty"`
}

type conversed struct {
	ID    string `json:"id"`
	Turn  int    `json:"turn,omitempty"`
	Turns []turn `json:"turns,omitempty"`
	Count int    `json:"count,omitempty"`
	Text  string `json:"text,omitempty"`
}

type turn struct {
	N     int    `json:"n"`
	Agent string `json:"agent"`
	Role  string `json:"role"`
	Text  string `json:"text"`
}

var conversationTool = define[conversationInput, conversed]("conversation", "Log or read a conversation", tool.Changes,
	"Add a turn to a conversation that agents share, or read its last turns.",
	func(ctx context.Context, c *call, in conversationInput) (answer, error) {
		if in.Say != "" && (in.Condensed || in.Before != 0) || in.Bytes != 0 && !in.Condensed || in.Condensed && (in.Limit != 0 || in.Before != 0) {
			return answer{}, invalid("say adds a turn, limit and before read turns, condensed and bytes condense it: give one of the three")
		}
		if in.Say != "" {
			ctx = tool.Keyed(ctx, in.Key)
			s, err := c.AppendTurn(ctx, in.ID, client.TurnInput{Role: cmp.Or(in.Role, client.SpeakerAssistant), Text: in.Say, Task: in.Task})
			if err != nil {
				return answer{}, err
			}
			return answer{Text: fmt.Sprintf("Turn %d was added.", s.Turn), Data: conversed{ID: in.ID, Turn: s.Turn}}, nil
		}
		if in.Condensed {
			v, err := c.Continuity(ctx, in.ID, in.Bytes)
			return answer{Text: show.Quoted(v.Text), Data: conversed{ID: in.ID, Text: v.Text}}, err
		}
		if in.Limit == 0 {
			in.Limit = 20
		}
		v, err := c.Conversation(ctx, in.ID, client.ConversationOptions{Limit: in.Limit, Before: in.Before})
		if err != nil {
			return answer{}, err
		}
		out := conversed{ID: v.ID, Count: v.Count}
		var b strings.Builder
		for _, t := range v.Turns {
			out.Turns = append(out.Turns, turn{t.N, t.Agent, string(t.Role), t.Text})
			fmt.Fprintf(&b, "%d %s (%s):\n%s\n", t.N, t.Agent, t.Role, show.Quoted(t.Text))
		}
		return answer{Text: b.String(), Data: out}, nil
	})
