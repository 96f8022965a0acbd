package resource

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
)

const (
	mostEntries = 200
	mostDetails = 16 << 10 // bytes of one entry's details
)

// history is a page of the history of a task.
type history struct {
	Task    string              `json:"task"`
	Entries []client.AuditEntry `json:"entries"`
	Count   int                 `json:"count"`          // of all entries of the task
	Next    string              `json:"next,omitempty"` // URI of the next page
}

func readHistory(ctx context.Context, c *client.Client, p target) (*mcp.ReadResourceResult, error) {
	after, err := p.number("after")
	if err != nil {
		return nil, err
	}
	trail, err := c.Trail(ctx, p.id)
	if err != nil {
		return nil, err
	}
	out, size := history{Task: p.id, Entries: []client.AuditEntry{}, Count: len(trail.Entries)}, 0
	for _, e := range trail.Entries {
		if e.Position <= after {
			continue
		}
		if n := len(e.Details); n > mostDetails {
			e.Details = fmt.Appendf(nil, `{"left_out":"%d bytes; an export of the task has them"}`, n)
		}
		size += len(e.Details) + 200
		if n := len(out.Entries); n > 0 && e.Position != out.Entries[n-1].Position && (n >= mostEntries || size > MaxText) {
			out.Next = fmt.Sprintf("trapeze://task/%s/history?after=%d", p.id, out.Entries[n-1].Position)
			break
		}
		out.Entries = append(out.Entries, e)
	}
	b, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	return p.whole(string(b), asJSON), nil
}

// mostLines and mostLine bound the history as text: in events, and in characters of the details of one.
const (
	mostLines = 200
	mostLine  = 200
)

// HistoryText returns the history of a task as text, a line for each event.
func HistoryText(trail client.Trail) string {
	entries := trail.Entries[max(0, len(trail.Entries)-mostLines):]
	var b strings.Builder
	for _, e := range entries {
		details := []rune(strings.Join(strings.Fields(string(e.Details)), " "))
		if len(details) > mostLine {
			details = append(details[:mostLine], '…')
		}
		fmt.Fprintf(&b, "%s %s by %s %s\n", e.Timestamp.Format("15:04:05"), e.Event, e.Agent, string(details))
	}
	if n := len(trail.Entries); n > mostLines {
		fmt.Fprintf(&b, "These are the last %d of %d events; trapeze://task/%s/history has all of them.\n", mostLines, n, trail.Task)
	}
	return b.String()
}
