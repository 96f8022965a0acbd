package resource

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/domain/visible"
)

const (
	mostEntries = 200
	mostDetails = 16 << 10 // bytes of one entry's details
)

// history is a page of the history of a task.
type history struct {
	Task    string              `json:"task"`
	Entries []client.AuditEntry `json:"entries"`
	Count   int                 `json:"count"`             // of all entries of the task
	Omitted int                 `json:"omitted,omitempty"` // events of the last decision here that did not fit
	Next    string              `json:"next,omitempty"`    // URI of the next page
}

func readHistory(ctx context.Context, c *client.Client, p target) (*mcp.ReadResourceResult, error) {
	after, err := p.number("after")
	if err != nil {
		return nil, err
	}
	out, size, more := history{Task: p.id, Entries: []client.AuditEntry{}}, 0, false
	err = eachEntry(ctx, c, p.id, func(e client.AuditEntry) {
		out.Count++
		if e.Position <= after || more {
			return
		}
		e = short(e)
		size += len(e.Details) + 200
		n := len(out.Entries)
		if more = n > 0 && e.Position != out.Entries[n-1].Position && (n >= mostEntries || size > MaxText); !more {
			out.Entries = append(out.Entries, e)
		}
	})
	if err != nil {
		return nil, err
	}
	return out.page(p, more)
}

// page returns the oldest entries, as many as fit the reader, with the URI of the next page. The entries of one decision stay together; of a
// decision that is too long alone, the details are left out, then the last events.
func (h history) page(p target, more bool) (*mcp.ReadResourceResult, error) {
	for {
		if n := len(h.Entries); more && n > 0 {
			h.Next = fmt.Sprintf("trapeze://task/%s/history?after=%d", p.id, h.Entries[n-1].Position)
		}
		b, err := json.Marshal(h)
		if err != nil {
			return nil, err
		}
		text := visible.JSON(string(b))
		if p.reads(text) {
			return p.whole(text, asJSON), nil
		}
		first, last := h.Entries[0].Position, h.Entries[len(h.Entries)-1].Position
		switch {
		case first != last:
			h.Entries, more = h.Entries[:slices.IndexFunc(h.Entries, func(e client.AuditEntry) bool { return e.Position == last })], true
		case h.brief(400) || h.brief(100) || h.brief(0):
		case len(h.Entries) > 1:
			h.Entries = h.Entries[:len(h.Entries)-1]
			h.Omitted++
		default:
			return p.whole(text, asJSON), nil
		}
	}
}

// brief leaves out details of more than so many bytes, and reports whether there were any.
func (h history) brief(most int) (done bool) {
	for i, e := range h.Entries {
		note := fmt.Appendf(nil, `{"left_out":"%d bytes"}`, len(e.Details))
		if len(e.Details) > max(most, len(note)+40) && !bytes.HasPrefix(e.Details, []byte(`{"left_out":`)) {
			h.Entries[i].Details, done = note, true
		}
	}
	return done
}

// mostLines and mostLine bound a page of the history as text: in events, and in characters of the details of one.
const (
	mostLines = 100
	mostLine  = 200
)

// HistoryText returns the history of a task as text, a line for each event: the newest events before a position, which is 0 for the
// newest of all, as many as fit the reader; numbered has each line begin with its position. The text says how to get those before them.
func HistoryText(ctx context.Context, c *client.Client, task string, before uint64, numbered bool, fits func(text string) bool) (string, error) {
	var page []client.AuditEntry // the newest events before the position
	end, count := 0, 0
	err := eachEntry(ctx, c, task, func(e client.AuditEntry) {
		count++
		if before > 0 && e.Position >= before {
			return
		}
		end++
		page = append(page, e)
		if len(page) > mostLines {
			page = since(page, page[len(page)-mostLines].Position)
		}
	})
	if err != nil {
		return "", err
	}
	if end == 0 {
		return fmt.Sprintf("No events before position %d.\n", before), nil
	}
	for width := mostLine; ; {
		text := historyLines(page, width, numbered)
		if len(page) < end {
			text += fmt.Sprintf("These are events %d to %d of %d. The same call with before=%d shows those before them.\n", end-len(page)+1, end, count, page[0].Position)
		}
		switch rest := since(page, page[0].Position+1); {
		case width == 0 || fits(text):
			return text, nil
		case len(rest) > 0:
			page = rest
		default: // the events of one decision
			width /= 2
		}
	}
}

// since are the events from a position on: those of one decision stay together.
func since(page []client.AuditEntry, position uint64) []client.AuditEntry {
	i := slices.IndexFunc(page, func(e client.AuditEntry) bool { return e.Position >= position })
	if i < 0 {
		return nil
	}
	return page[i:]
}

// historyLines is a line for each event, with details of at most so many characters.
func historyLines(page []client.AuditEntry, width int, numbered bool) string {
	var b strings.Builder
	for _, e := range page {
		if numbered {
			fmt.Fprintf(&b, "#%d ", e.Position)
		}
		details := []rune(visible.JSON(strings.Join(strings.Fields(string(e.Details)), " ")))
		if len(details) > width {
			details = append(details[:width], '…')
		}
		fmt.Fprintf(&b, "%s %s by %s %s\n", e.Timestamp.Format("15:04:05"), e.Event, e.Agent, visible.CodeLine(string(details)))
	}
	return b.String()
}

// eachEntry calls fn for all events of a task, the oldest first. Those of a task whose trail is too large for one answer come from its
// export, one after the other, with long details left out.
func eachEntry(ctx context.Context, c *client.Client, task string, fn func(client.AuditEntry)) error {
	trail, err := c.Trail(ctx, task)
	if errors.Is(err, client.Unavailable) { // an entry may be damaged: those that may read everything get the rest
		if c.Export(ctx, client.ExportOptions{Task: task, Format: "jsonl", SkipDamaged: true}, &entryLines{fn: fn}) == nil {
			return nil
		}
	}
	if errors.Is(err, client.TooLarge) {
		return c.Export(ctx, client.ExportOptions{Task: task, Format: "jsonl"}, &entryLines{fn: fn})
	}
	if err != nil {
		return err
	}
	for _, e := range trail.Entries {
		fn(e)
	}
	return nil
}

// entryLines calls fn for events that are written as JSON, one on a line.
type entryLines struct {
	line []byte
	fn   func(client.AuditEntry)
}

func (w *entryLines) Write(b []byte) (int, error) {
	n := len(b)
	for {
		line, rest, ends := bytes.Cut(b, []byte("\n"))
		w.line = append(w.line, line...)
		if !ends {
			return n, nil
		}
		var e client.AuditEntry
		if err := json.Unmarshal(w.line, &e); err != nil {
			return 0, err
		}
		w.fn(short(e))
		w.line, b = w.line[:0], rest
	}
}

// short is an event without details that are long.
func short(e client.AuditEntry) client.AuditEntry {
	if n := len(e.Details); n > mostDetails {
		e.Details = fmt.Appendf(nil, `{"left_out":"%d bytes; an export of the task has them"}`, n)
	}
	return e
}
