package mcpapi

import (
	"context"
	"fmt"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

type rememberInput struct {
	Text       string        `json:"text,omitempty" jsonschema:"what to store"`
	Title      string        `json:"title,omitempty"`
	Scope      client.Scope  `json:"scope,omitempty" jsonschema:"who may read it; default private"`
	Task       string        `json:"task,omitempty" jsonschema:"task it belongs to"`
	Tags       argument.List `json:"tags,omitempty"`
	Importance float64       `json:"importance,omitempty" jsonschema:"0 to 1"`
	Pinned     bool          `json:"pinned,omitempty" jsonschema:"goes first into every envelope"`
	Revise     string        `json:"revise,omitempty" jsonschema:"id of an item: text becomes its new version"`
	Forget     string        `json:"forget,omitempty" jsonschema:"id of an item that nobody may read again; the record keeps it"`
	Unpin      string        `json:"unpin,omitempty" jsonschema:"id of an item"`
	Key        string        `json:"key,omitempty"`
}

// placed reports whether an argument was given that only a new item takes.
func (in rememberInput) placed() bool {
	return in.Scope != "" || in.Task != "" || len(in.Tags) > 0 || in.Importance != 0 || in.Pinned
}

var rememberTool = define[rememberInput, show.Memory]("remember", "Store a memory item", tool.Destroys,
	"Store a memory item for yourself, a task or the workspace; or revise or forget an item.",
	func(ctx context.Context, c *call, in rememberInput) (answer, error) {
		ctx = tool.Keyed(ctx, in.Key)
		var m client.MemoryItem
		var err error
		switch {
		case in.Unpin != "" && (in.Text+in.Revise+in.Forget != "" || in.placed()):
			return answer{}, invalid("unpin takes no other argument: omit them")
		case in.Unpin != "":
			m, err = c.Unpin(ctx, in.Unpin)
			return answer{Text: m.ID + " is not pinned.", Data: show.MemoryOf(m)}, err
		case in.Revise != "" && in.Forget != "":
			return answer{}, invalid("give either revise or forget, not both")
		case in.Forget != "" && (in.Text != "" || in.placed()):
			return answer{}, invalid("forget takes no other argument: omit them, or use revise to change the text of the item")
		case in.Revise != "" && in.placed():
			return answer{}, invalid("revise changes text and title only: omit the other arguments")
		case in.Forget != "":
			if m, err = c.Forget(ctx, in.Forget); err == nil {
				return answer{Text: m.ID + " is forgotten.", Data: show.MemoryOf(m)}, nil
			}
		case in.Text == "":
			return answer{}, c.Invalid("{remember} needs text: what to store")
		case in.Revise != "":
			m, err = c.Revise(ctx, in.Revise, client.ReviseInput{Text: in.Text, Title: in.Title})
		default:
			m, err = c.Remember(ctx, client.RememberInput{
				Text: in.Text, Title: in.Title, Scope: in.Scope, Task: in.Task, Tags: in.Tags, Importance: in.Importance, Pinned: in.Pinned,
			})
		}
		if err != nil {
			return answer{}, err
		}
		text := fmt.Sprintf("Stored as %s, version %d.", m.ID, m.Version)
		if m.Proposed {
			text += " It is not pinned yet: for the whole workspace, an operator must agree. Tell your user, who can run: " + shellword.Command("trapeze memory pin", m.ID)
		}
		return answer{Text: text, Data: show.MemoryOf(m)}, nil
	})
