package fetchcall

import (
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// Via is the way by which a reader came to a prompt: the prompt names the call that fetches what it leaves out in that form.
type Via string

// The ways. A prompt has the most tokens by HTTP, which is the form that budgets are counted in.
const (
	ViaHTTP Via = "http"  // the HTTP API; also the empty value
	ViaCLI  Via = "cli"   // the command line
	ViaMCP  Via = "mcp"   // a tool of the MCP server
	Offered     = "offer" // instead of a way: an offer is open, so nothing can be fetched yet. No reader asks for it: it is not among [Vias]
)

// Vias lists every way.
var Vias = event.NewSet("a way to read", ViaHTTP, ViaCLI, ViaMCP)

func (v *Via) UnmarshalText(b []byte) error { return Vias.Decode(v, b) }

// FetchCall is the call that fetches parts of a task's envelope.
func (v Via) FetchCall(task, parts string) string {
	switch v {
	case Offered:
		return "once you accept"
	case ViaCLI:
		return shellword.Command("trapeze parts", task, parts)
	case ViaMCP:
		return "status id=" + task + " parts=" + parts
	default:
		return "/v1/tasks/" + task + "/parts?part=" + parts
	}
}

// RecordCall is the call that reads the recorded history of a task.
func (v Via) RecordCall(task string) string {
	switch v {
	case Offered:
		return "once you accept"
	case ViaCLI:
		return shellword.Command("trapeze audit show", task)
	case ViaMCP:
		return "status id=" + task + " history=true"
	default:
		return "GET /v1/tasks/" + task + "/trail"
	}
}

// FileCall is the call that fetches a file that is no text, or too long to be a part.
func (v Via) FileCall(digest string) string {
	switch v {
	case ViaCLI:
		return shellword.Command("trapeze artifact get", digest) + " -o FILE"
	case ViaMCP:
		return "the resource trapeze://artifact/" + digest
	default:
		return "/v1/artifacts/" + digest
	}
}
