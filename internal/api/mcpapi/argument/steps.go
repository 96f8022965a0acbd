package argument

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/trapezehq/trapeze/client"
)

// Steps are what the sender did, in order. A string counts as the action of a step.
type Steps []client.Step

// UnmarshalJSON accepts a list of objects or strings, or one of either.
func (s *Steps) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] != '[' {
		b = slices.Concat([]byte("["), b, []byte("]"))
	}
	wrong := errors.New(`give each step as its action, or with detail and tool: [{"action": "ran the tests", "detail": "3 failed", "tool": "shell"}]`)
	var raw []json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return wrong
	}
	for _, item := range raw {
		var x client.Step
		if len(item) > 0 && item[0] == '"' {
			if err := json.Unmarshal(item, &x.Action); err != nil {
				return err
			}
		} else if strictly(item, &x) != nil {
			return wrong
		}
		*s = append(*s, x)
	}
	return nil
}
