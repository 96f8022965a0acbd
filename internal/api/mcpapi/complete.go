package mcpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

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
		data, filled, err := in.meant(ctx, c)
		if err != nil {
			return answer{}, err
		}
		if in.Failed {
			if in.Text == "" {
				return answer{}, invalid("complete needs text with failed: why the task cannot be done")
			}
			if filled {
				data = nil
			}
			r, err := c.Fail(ctx, in.Task, client.FailInput{Epoch: epoch, Detail: in.Text, Usage: usage, Result: client.Result{Data: data}})
			return tool.Changed(r, err, "The task failed.", c.Say("call {inbox} to wait for other work"))
		}
		done := client.CompleteInput{Epoch: epoch, Result: client.Result{Text: in.Text, Data: data}, Usage: usage}
		if filled {
			r, err := in.eitherWay(ctx, c, done)
			return tool.Changed(r, err, "The task is complete.", c.Say("call {inbox} to wait for other work"))
		}
		r, err := c.Complete(ctx, in.Task, done)
		return tool.Changed(r, err, "The task is complete.", c.Say("call {inbox} to wait for other work"))
	})

// meant returns the data of the result. An empty value can be a result, such as a list without findings; but models that must fill every
// field write one beside the text that is their result. Without a schema it counts only if there is no text; with one it may be filled in.
// Some clients pass JSON as its text alone: it counts as that JSON, unless the task expects a string.
func (in completeInput) meant(ctx context.Context, c *call) (data json.RawMessage, filled bool, err error) {
	var text string
	written := json.Unmarshal(in.Data, &text) == nil && text != "" && json.Valid([]byte(text))
	if len(in.Data) == 0 || !written && (in.Text == "" && !argument.Absent(in.Data) || in.Text != "" && !neutral(in.Data)) {
		return in.Data, false, nil
	}
	task, err := c.Task(ctx, in.Task)
	if err != nil {
		return nil, false, err
	}
	data = in.Data
	if written {
		data = argument.Written(in.Data, task.Expected.Schema)
	}
	if task.Expected.Schema == nil {
		if !written && argument.Blank(data) {
			data = nil
		}
		return data, false, nil
	}
	return data, in.Text != "" && neutral(data), nil
}

// neutral reports whether a value is what models fill in for JSON that they would omit.
func neutral(data json.RawMessage) bool {
	text := string(bytes.TrimSpace(data))
	return argument.Blank(data) || text == "0" || text == "false" || text == `"null"`
}

// eitherWay completes a task with its text, as if the data beside it were omitted, and with both where that is no result: only the server
// knows what meets a schema. A call that is repeated with its key conflicts with a first one that was done the other way.
func (in completeInput) eitherWay(ctx context.Context, c *call, both client.CompleteInput) (client.Receipt, error) {
	alone := both
	alone.Result.Data = nil
	r, err := c.Complete(ctx, in.Task, alone)
	var refusal *client.Error
	if !errors.As(err, &refusal) || refusal.Code != client.Invalid && refusal.Code != client.Conflict {
		return r, err
	}
	if r, again := c.Complete(ctx, in.Task, both); again == nil {
		return r, nil
	}
	return r, err
}
