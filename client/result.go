package client

import "encoding/json"

// Expected is what a result must be like. Zero fields ask for nothing.
type Expected struct {
	Format   string          `json:"format,omitempty"`
	MaxBytes int             `json:"max_bytes,omitzero"`
	Criteria []string        `json:"criteria,omitempty"`
	Schema   json.RawMessage `json:"schema,omitempty"` // a JSON Schema
}

// Result is what came of a task.
type Result struct {
	Text string          `json:"text,omitempty"`
	Data json.RawMessage `json:"data,omitempty"`
	Code int             `json:"code,omitzero"` // exit code, where a program did the work
	// Review lists the criteria that no program can check; the server fills it in.
	Review []string `json:"review,omitempty"`
}
