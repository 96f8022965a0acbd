package mcpapi

import (
	"context"
	"encoding/json"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
)

// said is what a sender puts into an envelope. What the task knows already goes along by itself.
type said struct {
	Ask        string          `json:"ask,omitempty" jsonschema:"what the receiver must accomplish"`
	Summary    string          `json:"summary,omitempty" jsonschema:"where the work stands"`
	Facts      argument.Points `json:"facts,omitempty"`
	Decisions  argument.Points `json:"decisions,omitempty"`
	Questions  argument.List   `json:"questions,omitempty" jsonschema:"still open"`
	Memory     argument.List   `json:"memory,omitempty" jsonschema:"ids of memory items to send along"`
	Files      argument.List   `json:"files,omitempty" jsonschema:"digests of artifacts to send along"`
	Data       json.RawMessage `json:"data,omitempty" jsonschema:"any JSON"`
	Confidence *float64        `json:"confidence,omitempty" jsonschema:"0 to 1"`
}

func (s said) content() client.Content {
	c := client.Content{Ask: s.Ask, State: s.Summary, Facts: s.Facts, Decisions: s.Decisions, Questions: s.Questions, Data: s.Data, Confidence: s.Confidence}
	for _, id := range s.Memory {
		c.Memory = append(c.Memory, client.MemoryAsk{ID: id})
	}
	for _, digest := range s.Files {
		c.Artifacts = append(c.Artifacts, client.Artifact{Digest: digest})
	}
	return c
}

// epochOf is the epoch that a change of a task is made under: the one that was given, or else the task's present one.
func (c *call) epochOf(ctx context.Context, task string, given uint64) (uint64, error) {
	if given != 0 {
		return given, nil
	}
	t, err := c.Task(ctx, task)
	return t.Epoch, err
}

// keyed makes the calls under ctx the same call whenever they are made with this key.
func keyed(ctx context.Context, key string) context.Context {
	if key == "" {
		return ctx
	}
	return client.WithKey(ctx, key)
}
