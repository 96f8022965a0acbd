package mcpapi

import (
	"bytes"
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
			if in.Text == "" {
				return answer{}, invalid("complete needs text with failed: why the task cannot be done")
			}
			if neutral(data) {
				data = nil
			}
			r, err := c.Fail(ctx, in.Task, client.FailInput{Epoch: epoch, Detail: in.Text, Usage: usage, Result: client.Result{Data: data}})
			return tool.Changed(r, err, "The task failed.", c.Say("call {inbox} to wait for other work"))
		}
		done := client.CompleteInput{Epoch: epoch, Result: client.Result{Text: in.Text, Data: data}, Usage: usage}
		r, err := c.Complete(ctx, in.Task, done)
		return tool.Changed(r, err, "The task is complete.", c.Say("call {inbox} to wait for other work"))
	})

// meant returns the data of the result. An empty value can be a result, such as a list without findings; but models that must fill every
// field write one beside the text that is their result. Without a schema it counts only if there is no text; with one it may be filled in.
// Some clients pass JSON as its text alone: it counts as that JSON, unless the task expects a string.
func (in completeInput) meant(ctx context.Context, c *call) (data json.RawMessage, err error) {
	var text string
	written := json.Unmarshal(in.Data, &text) == nil && text != "" && json.Valid([]byte(text))
	if len(in.Data) == 0 || !written && (in.Text == "" && !argument.Absent(in.Data) || in.Text != "" && !neutral(in.Data)) {
		return in.Data, nil
	}
	task, err := c.Task(ctx, in.Task)
	if err != nil {
		return nil, err
	}
	data = in.Data
	if written {
		data = argument.Written(in.Data, task.Expected.Schema)
	}
	if task.Expected.Schema == nil {
		if !written && argument.Blank(data) {
			data = nil
		}
		return data, nil
	}
	if in.Text != "" && neutral(data) && argument.FilledIn(task.Expected.Schema, data, in.Text) {
		data = nil
	}
	return data, nil
}

// neutral reports whether a value is what models fill in for JSON that they would omit.
func neutral(data json.RawMessage) bool {
	text := string(bytes.TrimSpace(data))
	return argument.Blank(data) || text == "0" || text == "false" || text == `"null"`
}
