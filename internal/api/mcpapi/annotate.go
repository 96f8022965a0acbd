package mcpapi

import (
	"context"

	"github.com/trapezehq/trapeze/client"
)

type annotateInput struct {
	Task  string `json:"task"`
	Entry uint64 `json:"entry" jsonschema:"position of the entry"`
	Note  string `json:"note"`
	Key   string `json:"key,omitempty"`
}

var annotateTool = define[annotateInput, receipt]("annotate", "Annotate the record", changes,
	"Correct or comment on an earlier entry of a task. The entry stays as it is.",
	func(ctx context.Context, c *call, in annotateInput) (answer, error) {
		r, err := c.Annotate(keyed(ctx, in.Key), in.Task, client.AnnotateInput{Entry: in.Entry, Note: in.Note})
		return changed(r, err, "The note is recorded.", "")
	})
