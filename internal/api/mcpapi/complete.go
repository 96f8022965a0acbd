package mcpapi

import (
	"context"
	"encoding/json"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

type completeInput struct {
	Task   string          `json:"task"`
	Text   string          `json:"text,omitempty" jsonschema:"the result"`
	Data   json.RawMessage `json:"data,omitempty" empty:"kept" jsonschema:"the result as JSON, if a schema is expected"`
	Failed bool            `json:"failed,omitempty" jsonschema:"the task cannot be done; give the reason in text"`
	Tokens int64           `json:"tokens,omitempty" jsonschema:"tokens used since the last report"`
	Cost   int64           `json:"cost,omitempty" set:"all" jsonschema:"cost since the last report, in millionths of the currency"`
	Epoch  uint64          `json:"epoch,omitempty"`
	Key    string          `json:"key,omitempty"`
}

// completeTool only adds to the record: an agent that works without people can end its own work. Codex CLI refuses what is destructive then.
var completeTool = define[completeInput, receipt]("complete", "Complete a task", tool.Changes,
	"Complete a task you own with its result. A result that does not meet the expectations is refused with the reasons: fix it and call again.",
	func(ctx context.Context, c *call, in completeInput) (answer, error) {
		ctx = tool.Keyed(ctx, in.Key)
		epoch, err := c.Session.Epoch(ctx, in.Task, in.Epoch)
		if err != nil {
			return answer{}, err
		}
		usage := client.Spend{Tokens: in.Tokens, Cost: in.Cost}
		data, err := in.meant(ctx, c)
		if err != nil {
			return answer{}, err
		}
		if in.Failed {
			r, err := c.Fail(ctx, in.Task, client.FailInput{Epoch: epoch, Detail: in.Text, Usage: usage, Result: client.Result{Data: data}})
			return tool.Changed(r, err, "The task failed.", c.Say("call {inbox} to wait for other work"))
		}
		r, err := c.Complete(ctx, in.Task, client.CompleteInput{Epoch: epoch, Result: client.Result{Text: in.Text, Data: data}, Usage: usage})
		return tool.Changed(r, err, "The task is complete.", c.Say("call {inbox} to wait for other work"))
	})

// meant returns the data of the result. An empty value can be a result, such as a list without findings; but models that must fill every
// field write one beside the text that is their result. It counts if there is no text, or if the task expects JSON. Some clients pass JSON as
// its text alone: it counts as that JSON, unless the task expects a string.
func (in completeInput) meant(ctx context.Context, c *call) (json.RawMessage, error) {
	var text string
	written := json.Unmarshal(in.Data, &text) == nil && text != "" && json.Valid([]byte(text))
	if len(in.Data) == 0 || !written && (!argument.Blank(in.Data) || in.Text == "" && !argument.Absent(in.Data)) {
		return in.Data, nil
	}
	task, err := c.Task(ctx, in.Task)
	switch {
	case err != nil:
		return nil, err
	case written:
		return argument.Written(in.Data, task.Expected.Schema), nil
	case task.Expected.Schema == nil:
		return nil, nil
	}
	return in.Data, nil
}
