package further

import (
	"context"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

type deadInput struct {
	Task       string        `json:"task" jsonschema:"a task in the dead letters"`
	Action     string        `json:"action" enum:"replay,discard" jsonschema:"replay: offer it again. discard: end it"`
	To         argument.List `json:"to,omitempty" jsonschema:"with replay: other agents"`
	Capability string        `json:"capability,omitempty"`
	Home       bool          `json:"home,omitempty" jsonschema:"with replay: back to its owner"`
	Tokens     int64         `json:"tokens,omitempty" jsonschema:"with replay: a new token budget"`
	Why        string        `json:"why" jsonschema:"it is recorded"`
	Key        string        `json:"key,omitempty"`
}

var deadTool = tool.Define[deadInput, tool.Receipt]("dead", "Revive or discard a dead letter", tool.Destroys,
	"For operators: offer a task in the dead letters again, with fresh limits; or discard it.",
	func(ctx context.Context, c *tool.Call, in deadInput) (tool.Answer, error) {
		ctx = tool.Keyed(ctx, in.Key)
		if in.Action == "discard" {
			if len(in.To) > 0 || in.Capability != "" || in.Home || in.Tokens != 0 {
				return tool.Answer{}, argument.Invalid("discard takes task and why only: omit to, capability, home and tokens")
			}
			r, err := c.Discard(ctx, in.Task, in.Why)
			return tool.Changed(r, err, "The task was discarded.", "")
		}
		r, err := c.Replay(ctx, in.Task, client.ReplayInput{
			To: in.To, Capability: in.Capability, Home: in.Home, Note: in.Why, Budget: client.Spend{Tokens: in.Tokens},
		})
		return tool.Changed(r, err, "The task was revived.", "")
	})
