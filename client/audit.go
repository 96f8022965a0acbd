package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/client/wire"
)

// Record is the audit document of a handoff.
type Record struct {
	HandoffID string       `json:"handoff_id"`
	Task      string       `json:"task_id"`
	Timestamp time.Time    `json:"timestamp"` // of the request
	From      string       `json:"from_agent"`
	To        string       `json:"to_agent,omitempty"`
	Reason    Reason       `json:"reason"`
	Status    Stage        `json:"status"`
	Entries   []AuditEntry `json:"audit_entries"`
}

// AuditEntry is one recorded event.
type AuditEntry struct {
	Timestamp time.Time       `json:"timestamp"`
	Event     string          `json:"event"`
	Agent     string          `json:"agent"` // the actor; agents by name alone
	Details   json.RawMessage `json:"details"`
	Position  uint64          `json:"position"`
	For       []string        `json:"for,omitempty"`
}

// Trail is the whole record of a task.
type Trail struct {
	Task     string       `json:"task"`
	Handoffs []Record     `json:"handoffs"`
	Entries  []AuditEntry `json:"entries"`
}

// ExportOptions say what to export.
type ExportOptions struct {
	Task   string // one task; empty: the whole record, for tokens that may read it
	Format string // jsonl, csv, proof (what trapeze verify verifies), or for one task json; empty: jsonl
	// Forgotten includes the content of memory items that were forgotten. Only operators may ask for it.
	Forgotten bool
	// SkipDamaged goes on after entries that cannot be read, listed in their places as the event entry-damaged or entry-put-away: for operators and auditors.
	SkipDamaged bool
}

// ExportFormats lists the values of [ExportOptions].Format; json is for one task only.
func ExportFormats() []string { return []string{"jsonl", "csv", "json", "proof"} }

// Trail gives a task's whole history. The read is recorded.
func (c *Client) Trail(ctx context.Context, task string) (Trail, error) {
	return ask[Trail](ctx, c, http.MethodGet, path("tasks", task, "trail"), nil, nil)
}

// Export writes records to w. An error after the first byte means that the export is cut short. It is not repeated.
func (c *Client) Export(ctx context.Context, o ExportOptions, w io.Writer) error {
	q := wire.Query{}
	q.Texts("format", o.Format, "task", o.Task)
	q.Flag("forgotten", o.Forgotten)
	q.Flag("skip_damaged", o.SkipDamaged)
	return c.conn.Copy(ctx, wire.Call{Method: http.MethodGet, Path: path("audit", "export"), Query: q, Accept: "*/*"}, w)
}

// Fetch writes an answer that is not JSON to w as it is. An error after the first byte means that it is cut short.
func (c *Client) Fetch(ctx context.Context, path string, w io.Writer) error {
	return c.conn.Copy(ctx, wire.Call{Method: http.MethodGet, Path: path, Accept: "*/*"}, w)
}
