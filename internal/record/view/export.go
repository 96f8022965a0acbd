package view

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Format is the format of an export. The set is closed.
type Format string

// The formats of an export.
const (
	FormatJSON  Format = "json"  // audit documents of the handoffs
	FormatLines Format = "jsonl" // one event a line
	FormatCSV   Format = "csv"   // one event a row
	FormatProof Format = "proof" // whole entries, each with the proof that it is in the record
)

// UnmarshalText refuses unknown formats.
func (f *Format) UnmarshalText(b []byte) error {
	switch v := Format(b); v {
	case FormatJSON, FormatLines, FormatCSV, FormatProof:
		*f = v
		return nil
	}
	return refusal.New(refusal.Invalid, "use json, jsonl, csv or proof", "%.40q is not a format", b)
}

// Row is one event of an export.
type Row struct {
	Position  ledger.Position `json:"position"`
	Timestamp time.Time       `json:"timestamp"`
	Kind      string          `json:"kind"`
	ID        string          `json:"id"`
	HandoffID string          `json:"handoff_id,omitempty"`
	Event     string          `json:"event"`
	Agent     string          `json:"agent"`
	For       []string        `json:"for,omitempty"`
	Details   json.RawMessage `json:"details"`
}

// EachRow calls fn with the events of an entry.
func EachRow(e ledger.Entry, fn func(Row) error) error {
	_, kind, id := e.Stream.Parts()
	for _, ev := range e.Events {
		x := Row{
			Position: e.Position, Timestamp: e.Time, Kind: kind, ID: id, Event: ev.Name, Agent: event.Bare(e.Actor.Principal),
			For: bare(e.Actor.For), Details: identity.BareAgents(ev.Data),
		}
		if role, name, ok := strings.Cut(id, ":"); ok && kind == "access" { // the stream of a principal, in whose id there is no slash
			x.ID = event.Bare(role + "/" + name)
		}
		var of struct{ Handoff int }
		if kind == ledger.TaskKind && json.Unmarshal(ev.Data, &of) == nil && of.Handoff > 0 {
			x.HandoffID = event.HandoffID(id, of.Handoff)
		}
		if err := fn(x); err != nil {
			return err
		}
	}
	return nil
}

// Lines writes one event per line, as JSON.
func Lines(w io.Writer) (each func(Row) error, flush func() error) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return func(x Row) error { return enc.Encode(x) }, func() error { return nil }
}

// CSV writes one event per row, after a header. Cells that a spreadsheet would interpret as a formula are quoted.
func CSV(w io.Writer) (each func(Row) error, flush func() error) {
	out := csv.NewWriter(w)
	head := []string{"position", "timestamp", "kind", "id", "handoff_id", "event", "agent", "for", "details"}
	wrote := false
	each = func(x Row) error {
		if !wrote {
			wrote = true
			if err := out.Write(head); err != nil {
				return err
			}
		}
		row := []string{
			strconv.FormatUint(uint64(x.Position), 10), x.Timestamp.Format(time.RFC3339Nano), x.Kind, x.ID, x.HandoffID, x.Event, x.Agent,
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

// inert quotes a cell that a spreadsheet would interpret as a formula.
func inert(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}
