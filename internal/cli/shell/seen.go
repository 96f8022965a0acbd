package shell

import (
	"time"

	"github.com/trapezehq/trapeze/client"
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
