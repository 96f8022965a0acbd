package shell

import (
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Seen describes when the server last had a call of an agent.
func Seen(a client.Agent) string {
	ago := time.Since(a.Seen).Truncate(time.Minute)
	switch {
	case a.Seen.IsZero():
		return "not since the server started"
	case ago <= 0:
		return "now"
	}
	return Span(client.Duration(ago)) + " ago"
}

// Principal names a principal as the answers of the server do: an agent by its bare name.
func Principal(role client.Role, name string) string { return event.Bare(string(role) + "/" + name) }
