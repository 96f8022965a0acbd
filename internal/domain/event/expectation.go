package event

import (
	"encoding/json"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// MaxCriteria is how many criteria a result may have to meet: as many as an envelope holds.
const MaxCriteria = 64

// Expected is what a result must be like. Zero fields ask for nothing.
type Expected struct {
	Format   string          `json:"format,omitempty"`
	MaxBytes int             `json:"max_bytes,omitzero"` // of its text and data together
	Criteria []string        `json:"criteria,omitempty"`
	Schema   json.RawMessage `json:"schema,omitempty"` // a JSON Schema for the result's data
}

// Check refuses expectations that are too large or malformed.
func (e Expected) Check() error {
	if e.MaxBytes < 0 {
		return refusal.New(refusal.Invalid, "use a length from 1 up", "a result cannot have %d bytes", e.MaxBytes).With("field", "max_bytes")
	}
	if err := checkCount("criteria", len(e.Criteria), MaxCriteria, "name those that matter most"); err != nil {
		return refusal.In("criteria", err)
	}
	if err := CheckField("format", e.Format); err != nil {
		return err
	}
	for _, c := range e.Criteria {
		if err := CheckText("what is expected", c, MaxText); err != nil {
			return refusal.In("criteria", err)
		}
	}
	return refusal.In("schema", CheckJSON("the expected schema", e.Schema, MaxSchema))
}

// Empty reports whether nothing is expected.
func (e Expected) Empty() bool {
	return e.Format == "" && e.MaxBytes == 0 && len(e.Criteria) == 0 && len(e.Schema) == 0
}

// Compact is the expectation with its schema as it is recorded, without insignificant space. The schema must be JSON.
func (e Expected) Compact() Expected {
	e.Schema = compact(e.Schema)
	return e
}
