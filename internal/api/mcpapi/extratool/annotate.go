package extratool

import (
	"context"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

type annotateInput struct {
	Task  string `json:"task"`
	Entry uint64 `json:"entry" jsonschema:"position of the entry"`
	Note  string `json:"note"`
	Key   string `json:"key,omitempty"`
}

var annotateTool = tool.Define[annotateInput, tool.Receipt]("annotate", "Annotate the record", tool.Changes,
	"Correct or comment on an earlier entry of a task. The entry stays as it is.",
	func(ctx context.Context, c *tool.Call, in annotateInput) (tool.Answer, error) {
		r, err := c.Annotate(tool.Keyed(ctx, in.Key), in.Task, client.AnnotateInput{Entry: in.Entry, Note: in.Note})
		return tool.Changed(r, err, "The note is recorded.", "")
	})
