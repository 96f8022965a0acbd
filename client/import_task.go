package client

import (
	"context"
	"encoding/json"
	"net/http"
)

// ImportInput makes a task from the handoff document of another system, or from an envelope of another server.
type ImportInput struct {
	Document   json.RawMessage `json:"document"`
	To         []string        `json:"to,omitempty"` // instead of the agent that the document names
	Capability string          `json:"capability,omitempty"`
	Start      bool            `json:"start,omitempty"` // the calling agent works on it itself
}

// Imported is a receipt, with notes on the document's fields.
type Imported struct {
	Receipt
	Format string `json:"format"` // handoff-document, handoff-context, memory-envelope or envelope
	Notes  []Note `json:"notes"`
}

// ImportFormats lists the values of [Imported].Format.
func ImportFormats() []string {
	return []string{"handoff-document", "handoff-context", "memory-envelope", "envelope"}
}

// ImportTask makes a task from the handoff document of another system, or from an envelope of another server. Its account of the past is recorded as claimed history.
func (c *Client) ImportTask(ctx context.Context, in ImportInput) (Imported, error) {
	return ask[Imported](ctx, c, http.MethodPost, path("tasks", "import"), nil, in)
}

// Note explains a field that was not taken over unchanged.
type Note struct {
	Field string `json:"field"`
	Text  string `json:"text"`
}
