package mcpapi

import (
	"context"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

type recallInput struct {
	Query string `json:"query,omitempty" jsonschema:"words to search for; if omitted, newest first"`
	ID    string `json:"id,omitempty" jsonschema:"instead: id of one item, returned in full"`
	Tag   string `json:"tag,omitempty"`
	Agent string `json:"agent,omitempty" jsonschema:"author of the items"`
	Task  string `json:"task,omitempty"`
	Limit int    `json:"limit,omitempty"`
}

type recalled struct {
	Items []show.Memory `json:"items"`
}

var recallTool = define[recallInput, recalled]("recall", "Search memory items", tool.Looks,
	"Search the memory items that you may read, best match first, in excerpts; or read one item in full.",
	func(ctx context.Context, c *call, in recallInput) (answer, error) {
		if in.ID != "" && (in.Query != "" || in.Tag != "" || in.Agent != "" || in.Limit != 0) {
			return answer{}, c.Invalid("{recall} reads one item by id, or searches: give one of the two; only task goes with both")
		}
		if in.ID != "" {
			m, err := c.Memory(ctx, in.ID, client.MemoryReference{Task: in.Task})
			if err != nil {
				return answer{}, err
			}
			return answer{Text: show.MemoryText(m), Data: recalled{[]show.Memory{show.MemoryOf(m)}}}, nil
		}
		if in.Limit == 0 {
			in.Limit = 10
		}
		page, err := c.SearchMemory(ctx, client.MemoryFilter{Query: in.Query, Tag: in.Tag, Agent: in.Agent, Task: in.Task, Limit: in.Limit})
		if err != nil {
			return answer{}, err
		}
		out := recalled{Items: []show.Memory{}}
		var b strings.Builder
		for _, m := range page.Items {
			out.Items = append(out.Items, show.MemoryOf(m))
			b.WriteString(show.MemoryText(m) + "\n")
		}
		if len(page.Items) == 0 {
			b.WriteString("Nothing found. Try fewer or other words.")
		}
		return answer{Text: b.String(), Data: out}, nil
	})
