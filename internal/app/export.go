package app

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/identity"
	"github.com/trapezehq/trapeze/internal/ledger"
	"github.com/trapezehq/trapeze/internal/refusal"
)

// Format is how records are written. The set is closed.
type Format string

// The formats of an export.
const (
	FormatJSON  Format = "json"  // audit documents of the handoffs
	FormatLines Format = "jsonl" // one event a line
	FormatCSV   Format = "csv"   // one event a row
)

// UnmarshalText refuses unknown formats.
func (f *Format) UnmarshalText(b []byte) error {
	switch v := Format(b); v {
	case FormatJSON, FormatLines, FormatCSV:
		*f = v
		return nil
	}
	return refusal.New(refusal.Invalid, "use json, jsonl or csv", "%.40q is not a format", b)
}

// ExportInput says what to export.
type ExportInput struct {
	Task   string // one task; empty: every entry of the workspace, for those who may read the audit
	Format Format
}

// exported is one event of an export of the whole workspace.
type exported struct {
	Position  ledger.Position `json:"position"`
	Timestamp time.Time       `json:"timestamp"`
	Kind      string          `json:"kind"`
	ID        string          `json:"id"`
	Event     string          `json:"event"`
	Agent     string          `json:"agent"`
	For       []string        `json:"for,omitempty"`
	Details   json.RawMessage `json:"details"`
}

// Export writes records to w. That it was done is on record before the first byte. Once bytes are written an error
// can only cut the export short.
func (a *App) Export(ctx context.Context, c Caller, in ExportInput, w io.Writer) error {
	if err := a.startExport(ctx, c, in); err != nil {
		return a.access.refused(ctx, c, "export", in.Task, err)
	}
	if in.Format == FormatJSON {
		return a.exportDocument(ctx, c, in, w)
	}
	each, flush := lines(w)
	if in.Format == FormatCSV {
		each, flush = rows(w)
	}
	if err := a.eachEvent(ctx, c, in, each); err != nil {
		return err
	}
	return flush()
}

func (a *App) startExport(ctx context.Context, c Caller, in ExportInput) error {
	what := "task " + in.Task
	if in.Task != "" {
		if _, err := a.taskFor(ctx, c, in.Task); err != nil {
			return err
		}
	} else {
		if err := c.may(identity.ReadAudit, "export the whole record"); err != nil {
			return err
		}
		what = "everything"
		if in.Format == FormatJSON {
			return refusal.New(refusal.Invalid, "use jsonl or csv, or name a task", "the whole record is not one JSON document")
		}
	}
	return a.access.append(ctx, c, Exported{What: what, Format: string(in.Format)})
}

func (a *App) exportDocument(ctx context.Context, c Caller, in ExportInput, w io.Writer) error {
	tr, err := a.trail(ctx, c.Workspace, in.Task)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(tr)
}

// eachEvent calls fn with the events of one task, or of the workspace up to the position it has now.
func (a *App) eachEvent(ctx context.Context, c Caller, in ExportInput, fn func(exported) error) error {
	last, err := a.ledger.Last(ctx)
	if err != nil {
		return unavailable(err)
	}
	read := a.ledger.Read
	if in.Task != "" {
		read = func(ctx context.Context, after ledger.Position, limit int) ([]ledger.Entry, error) {
			return a.ledger.Stream(ctx, taskStream(c.Workspace, in.Task), after, limit)
		}
	}
	var after ledger.Position
	for after < last {
		entries, err := read(ctx, after, streamPage)
		if err != nil {
			return unavailable(err)
		}
		if len(entries) == 0 {
			return nil
		}
		for _, e := range entries {
			after = e.Position
			if workspace, _, _ := e.Stream.Parts(); workspace != c.Workspace {
				continue
			}
			if err := eventsOf(e, fn); err != nil {
				return err
			}
		}
	}
	return nil
}

func eventsOf(e ledger.Entry, fn func(exported) error) error {
	_, kind, id := e.Stream.Parts()
	for _, ev := range e.Events {
		x := exported{Position: e.Position, Timestamp: e.Time, Kind: kind, ID: id, Event: ev.Name, Agent: actorName(e.Actor.Principal),
			For: e.Actor.For, Details: ev.Data}
		if err := fn(x); err != nil {
			return err
		}
	}
	return nil
}

func lines(w io.Writer) (each func(exported) error, flush func() error) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return func(x exported) error { return enc.Encode(x) }, func() error { return nil }
}

func rows(w io.Writer) (each func(exported) error, flush func() error) {
	out := csv.NewWriter(w)
	head := []string{"position", "timestamp", "kind", "id", "event", "agent", "for", "details"}
	wrote := false
	each = func(x exported) error {
		if !wrote {
			wrote = true
			if err := out.Write(head); err != nil {
				return err
			}
		}
		row := []string{
			strconv.FormatUint(uint64(x.Position), 10), x.Timestamp.Format(time.RFC3339Nano), x.Kind, x.ID, x.Event, x.Agent,
			strings.Join(x.For, " "), string(x.Details),
		}
		for i := range row {
			row[i] = inert(row[i])
		}
		return out.Write(row)
	}
	return each, func() error {
		out.Flush()
		return out.Error()
	}
}

// inert keeps spreadsheets from taking a cell for a formula.
func inert(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}
