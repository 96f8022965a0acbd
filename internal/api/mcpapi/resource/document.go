package resource

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/domain/visible"
)

// maxContext is the most bytes of the envelope that the document of a handoff has for a model.
const maxContext = MaxText / 2

// DocumentText returns all that is recorded of a handoff as JSON in a fence. A task means its newest handoff. Long details and envelopes are left out,
// and where they are left out is said.
func DocumentText(ctx context.Context, c *client.Client, id string) (string, error) {
	if !strings.Contains(id, ".h") {
		t, err := c.Task(ctx, id)
		if err != nil {
			return "", err
		}
		if t.Handoff == nil {
			return "Task " + id + " has had no handoff yet.\n", nil
		}
		id = t.Handoff.ID
	}
	d, err := c.HandoffDocument(ctx, id)
	if err != nil {
		return "", err
	}
	size := len(d.Context)
	if size > maxContext {
		d.Context, size = fmt.Appendf(nil, `{"left_out":"%d bytes; status with parts shows parts of it"}`, size), 0
	}
	for i, e := range d.Entries {
		if e = short(e); size+len(e.Details) > MaxText {
			e.Details = fmt.Appendf(nil, `{"left_out":"%d bytes; an export of the task has them"}`, len(e.Details))
		}
		size += len(e.Details)
		d.Entries[i] = e
	}
	b, err := json.Marshal(d)
	if err != nil {
		return "", err
	}
	return visible.Fenced(visible.JSON(string(b)), "json"), nil
}
