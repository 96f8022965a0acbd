package client

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/client/wire"
)

// ContentInput says how content is read. The zero value gives what its receiver gets.
type ContentInput struct {
	Render bool // also as a prompt
	Source bool // what was sent, not what was packed of it for its receiver
	// Majors of the envelope's schema that it is wanted in too.
	Majors []int
}

// Content gives the envelope of a task, of a handoff or of what was shared; the id says which. The read is recorded.
func (c *Client) Content(ctx context.Context, id string, in ContentInput) (Sheet, error) {
	of := "tasks"
	switch {
	case strings.Contains(id, ".h"):
		of = "handoffs"
	case strings.Contains(id, ".s"):
		of = "shares"
	}
	majors := make([]string, len(in.Majors))
	for i, major := range in.Majors {
		majors[i] = strconv.Itoa(major)
	}
	q := wire.Query{}
	q.Flag("render", in.Render)
	q.Flag("source", in.Source)
	q.Text("majors", strings.Join(majors, ","))
	return ask[Sheet](ctx, c, http.MethodGet, path(of, id, "content"), q, nil)
}
