package mcpapi

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
)

// said has the content that a sender adds to an envelope. What the task has already is included automatically.
type said struct {
	Ask        string               `json:"ask,omitempty" jsonschema:"what the receiver must accomplish"`
	Summary    string               `json:"summary,omitempty" jsonschema:"current state of the work"`
	Facts      argument.Points      `json:"facts,omitempty"`
	Decisions  argument.Points      `json:"decisions,omitempty"`
	Questions  argument.Restriction `json:"questions,omitempty" jsonschema:"open questions; they replace the earlier ones; none: all are answered"`
	Memory     argument.List        `json:"memory,omitempty" jsonschema:"ids of memory items to include"`
	Files      argument.List        `json:"files,omitempty" jsonschema:"digests of artifacts to include"`
	Data       json.RawMessage      `json:"data,omitempty" jsonschema:"any JSON"`
	Confidence float64              `json:"confidence,omitempty" jsonschema:"above 0, at most 1"`
	saidFully
}

// saidFully is the rest of the content of an envelope, for the clients of the set all.
type saidFully struct {
	Talk    string          `json:"conversation_summary,omitempty" set:"all" jsonschema:"summary of the conversation so far"`
	Steps   argument.Steps  `json:"steps,omitempty" set:"all" jsonschema:"what you did; added to the history"`
	Notes   string          `json:"notes,omitempty" set:"all" jsonschema:"anything else for the receiver"`
	Recent  int             `json:"recent,omitempty" set:"all" jsonschema:"how many recent memory items to include, those that fit best; at most 50"`
	Expires argument.Moment `json:"expires_at,omitzero" set:"all" jsonschema:"when the context is stale, such as 2026-01-31T15:00:00Z"`
}

// enclosed is what a sender adds to an envelope, with texts that become files of it.
type enclosed struct {
	said
	Attach argument.Attachments `json:"attach,omitempty" jsonschema:"small texts to include as files"`
}

// content stores the attached texts as artifacts, which is idempotent, and returns what is added to the envelope.
func (e enclosed) content(ctx context.Context, c *call) (client.Content, error) {
	out := e.said.content()
	for _, x := range e.Attach {
		stored, err := c.PutArtifact(client.WithKey(ctx, ""), strings.NewReader(x.Text), "")
		if err != nil {
			return out, err
		}
		out.Artifacts = append(out.Artifacts, client.Artifact{Digest: stored.Digest, Name: x.Name, MediaType: "text/plain"})
	}
	return out, nil
}

func (s said) content() client.Content {
	c := client.Content{
		Ask: s.Ask, State: s.Summary, Facts: s.Facts, Decisions: s.Decisions, Questions: s.Questions.Values(), Data: s.Data,
		Summary: s.Talk, Steps: s.Steps, Notes: s.Notes, Recent: s.Recent, ExpiresAt: s.Expires.At,
	}
	if s.Confidence != 0 {
		c.Confidence = &s.Confidence
	}
	for _, reference := range s.Memory {
		m := client.MemoryAsk{ID: reference}
		if id, version, ok := strings.Cut(reference, "@"); ok {
			if n, err := strconv.Atoi(version); err == nil && n > 0 { // otherwise there is no item of that id
				m = client.MemoryAsk{ID: id, Version: n}
			}
		}
		c.Memory = append(c.Memory, m)
	}
	for _, file := range s.Files {
		digest, name, _ := strings.Cut(file, "=")
		c.Artifacts = append(c.Artifacts, client.Artifact{Digest: digest, Name: name})
	}
	return c
}
