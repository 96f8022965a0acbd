package mcpapi

import (
	"context"
	"math"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/fit"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

type recallInput struct {
	Query        string          `json:"query,omitempty" jsonschema:"words to search for; if omitted, newest first"`
	ID           string          `json:"id,omitempty" jsonschema:"instead: id of one item, returned in full"`
	Version      int             `json:"version,omitempty" set:"all" jsonschema:"with id: this version"`
	Versions     bool            `json:"versions,omitempty" set:"all" jsonschema:"with id: all of its versions, oldest first"`
	Tag          string          `json:"tag,omitempty"`
	Agent        string          `json:"agent,omitempty" jsonschema:"author of the items"`
	Task         string          `json:"task,omitempty"`
	Conversation string          `json:"conversation,omitempty" set:"all" jsonschema:"in which they were said"`
	Scope        client.Scope    `json:"scope,omitempty" set:"all"`
	Since        argument.Moment `json:"since,omitzero" set:"all" when:"past" jsonschema:"written not before, such as 2026-01-31T15:00:00Z, or 2h: of the last two hours"`
	Until        argument.Moment `json:"until,omitzero" set:"all" when:"past" jsonschema:"written before"`
	Pinned       bool            `json:"pinned,omitempty" set:"all" jsonschema:"pinned items only"`
	After        uint64          `json:"after,omitempty" jsonschema:"with id, or without query: as the previous answer says"`
	Limit        int             `json:"limit,omitempty"`
}

var recallTool = define[recallInput, fit.Recalled]("recall", "Search memory items", tool.Looks,
	"Search the memory items that you may read, best match first, in excerpts; or read one item in full.",
	func(ctx context.Context, c *call, in recallInput) (answer, error) {
		if err := in.check(c); err != nil {
			return answer{}, err
		}
		switch {
		case in.Versions:
			return c.versions(ctx, in)
		case in.ID != "":
			m, err := c.Memory(ctx, in.ID, client.MemoryReference{Task: in.Task, Version: in.Version})
			if err != nil {
				return answer{}, err
			}
			return fit.Item(ctx, c.Client, m, in.After)
		}
		return c.search(ctx, in)
	})

// check refuses arguments that would have no effect.
func (in recallInput) check(c *call) error {
	narrowed := in.Query+in.Tag+in.Agent+in.Conversation+string(in.Scope) != "" || in.Pinned || !in.Since.At.IsZero() || !in.Until.At.IsZero()
	switch {
	case in.ID != "" && (narrowed || !in.Versions && in.Limit != 0):
		return c.Invalid("{recall} reads one item by id, or searches: give one of the two; only task goes with both")
	case in.ID == "" && (in.Version != 0 || in.Versions):
		return invalid("version and versions need the id of one item")
	case in.Version != 0 && in.Versions:
		return invalid("give either version or versions, not both")
	case in.Versions && in.Task != "" || in.After > math.MaxInt32 && in.Versions:
		return invalid("versions takes id, after and limit only: omit task")
	case in.Query != "" && in.After != 0:
		return invalid("after continues a list, and a search by query has no order to continue: omit one of them")
	}
	return nil
}

// search lists the items that match.
func (c *call) search(ctx context.Context, in recallInput) (answer, error) {
	if in.Limit == 0 {
		in.Limit = 10
	}
	page, err := c.SearchMemory(ctx, client.MemoryFilter{
		Query: in.Query, Tag: in.Tag, Agent: in.Agent, Task: in.Task, Limit: in.Limit, After: in.After,
		Conversation: in.Conversation, Scope: in.Scope, Since: in.Since.At, Until: in.Until.At, Pinned: in.Pinned,
	})
	if err != nil {
		return answer{}, err
	}
	if !c.Set.Full() {
		page.Next = 0
	}
	return fit.Found(ctx, c.Client, page.Items, page.Next)
}

// versions lists the versions of an item.
func (c *call) versions(ctx context.Context, in recallInput) (answer, error) {
	v, err := c.MemoryVersions(ctx, in.ID, int(in.After), in.Limit)
	if err != nil {
		return answer{}, err
	}
	return fit.Versions(ctx, c.Client, v)
}
