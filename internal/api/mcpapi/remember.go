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
	Text         string        `json:"text,omitempty" jsonschema:"what to store"`
	Title        string        `json:"title,omitempty"`
	Scope        client.Scope  `json:"scope,omitempty" jsonschema:"who may read it; default private"`
	Task         string        `json:"task,omitempty" jsonschema:"task it belongs to"`
	Tags         argument.List `json:"tags,omitempty"`
	Subject      string        `json:"subject,omitempty" set:"all" jsonschema:"whom or what it is about, to erase it by"`
	Importance   float64       `json:"importance,omitempty" jsonschema:"0 to 1"`
	Pinned       bool          `json:"pinned,omitempty" jsonschema:"goes first into every envelope"`
	Conversation string        `json:"conversation,omitempty" set:"all" jsonschema:"conversation in which it was said"`
	SourceAgent  string        `json:"source_agent,omitempty" set:"all" jsonschema:"agent that it comes from, if not from you"`
	SourceTask   string        `json:"source_task,omitempty" set:"all" jsonschema:"task that it comes from"`
	Revise       string        `json:"revise,omitempty" jsonschema:"id of an item: text becomes its new version"`
	Expect       int           `json:"expect,omitempty" set:"all" jsonschema:"with revise: its newest version as you know it; refused if it has another"`
	Forget       string        `json:"forget,omitempty" jsonschema:"id of an item that nobody may read again"`
	Pin          string        `json:"pin,omitempty" set:"all" jsonschema:"instead: id of an item to pin"`
	Unpin        string        `json:"unpin,omitempty" jsonschema:"id of an item"`
	Tag          string        `json:"tag,omitempty" set:"all" jsonschema:"instead: id of an item that gets tags instead of its own"`
	Weigh        string        `json:"weigh,omitempty" set:"all" jsonschema:"instead: id of an item that gets importance"`
	Key          string        `json:"key,omitempty"`
}

// placed reports whether an argument was given that only a new item takes.
func (in rememberInput) placed() bool {
	return in.Scope != "" || in.Task != "" || len(in.Tags) > 0 || in.Importance != 0 || in.Pinned || in.Conversation+in.Subject+in.SourceAgent+in.SourceTask != ""
}

var rememberTool = define[rememberInput, show.Memory]("remember", "Store a memory item", tool.Destroys,
	"Store a memory item for yourself, a task or the workspace; or revise or forget an item.",
	func(ctx context.Context, c *call, in rememberInput) (answer, error) {
		if err := in.check(c); err != nil {
			return answer{}, err
		}
		m, did, err := c.remember(tool.Keyed(ctx, in.Key), in)
		if err != nil {
			return answer{}, err
		}
		if did == "" {
			did = fmt.Sprintf("Stored as %s, version %d.", m.ID, m.Version)
		}
		if m.Proposed && in.Unpin == "" {
			did += " It is not pinned yet: for the whole workspace, an operator must agree. Tell your user, who can run: " + shellword.Command("trapeze memory pin", m.ID)
		}
		return answer{Text: did, Data: show.MemoryOf(m)}, nil
	})

// check refuses arguments that would have no effect, or more than one change in one call.
func (in rememberInput) check(c *call) error {
	changes := 0
	for _, id := range []string{in.Revise, in.Forget, in.Pin, in.Unpin, in.Tag, in.Weigh} {
		if id != "" {
			changes++
		}
	}
	tagged, weighed := in, in
	tagged.Tags, weighed.Importance = nil, 0
	switch {
	case in.Revise != "" && in.Forget != "":
		return invalid("give either revise or forget, not both")
	case changes > 1:
		return invalid("give one of revise, forget, pin, unpin, tag and weigh: each call makes one change")
	case in.Expect != 0 && in.Revise == "":
		return invalid("expect is for revise: omit it")
	case in.Unpin != "" && (in.Text+in.Title != "" || in.placed()):
		return invalid("unpin takes no other argument: omit them")
	case in.Pin != "" && (in.Text+in.Title != "" || in.placed()):
		return invalid("pin takes no other argument: omit them")
	case in.Tag != "" && (in.Text+in.Title != "" || tagged.placed()):
		return invalid("tag takes tags only: omit the other arguments")
	case in.Weigh != "" && (in.Text+in.Title != "" || weighed.placed()):
		return invalid("weigh takes importance only: omit the other arguments")
	case in.Forget != "" && (in.Text != "" || in.placed()):
		return invalid("forget takes no other argument: omit them, or use revise to change the text of the item")
	case in.Revise != "" && in.placed():
		return invalid("revise changes text and title only: omit the other arguments")
	case in.Text == "" && (changes == 0 || in.Revise != ""):
		return c.Invalid("{remember} needs text: what to store")
	}
	return nil
}

// remember makes the change; did is empty if a version was stored.
func (c *call) remember(ctx context.Context, in rememberInput) (m client.MemoryItem, did string, err error) {
	switch {
	case in.Unpin != "":
		m, err = c.Unpin(ctx, in.Unpin)
		return m, in.Unpin + " is not pinned.", err
	case in.Pin != "":
		if m, err = c.Pin(ctx, in.Pin); m.Proposed {
			return m, "Proposed.", err
		}
		return m, in.Pin + " is pinned.", err
	case in.Tag != "":
		m, err = c.Tag(ctx, in.Tag, client.TagInput{Tags: in.Tags})
		return m, in.Tag + " has its new tags.", err
	case in.Weigh != "":
		m, err = c.Weigh(ctx, in.Weigh, client.WeighInput{Importance: in.Importance})
		return m, in.Weigh + " has its new importance.", err
	case in.Forget != "":
		m, err = c.Forget(ctx, in.Forget)
		return m, in.Forget + " is forgotten.", err
	case in.Revise != "":
		m, err = c.Revise(ctx, in.Revise, client.ReviseInput{Text: in.Text, Title: in.Title, Expect: in.Expect})
		return m, "", err
	}
	m, err = c.Remember(ctx, client.RememberInput{
		Text: in.Text, Title: in.Title, Scope: in.Scope, Task: in.Task, Tags: in.Tags, Subject: in.Subject, Importance: in.Importance, Pinned: in.Pinned,
		Conversation: in.Conversation, Source: client.MemorySource{Agent: in.SourceAgent, Task: in.SourceTask},
	})
	return m, "", err
}
