package view

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
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

// private lists the fields of each event that only the holders of a task may read.
var private = map[string][]string{
	event.Sealed{}.EventName():       {"envelope"},
	event.Rendered{}.EventName():     {"envelope"},
	event.Created{}.EventName():      {"claimed_history"},
	event.Progressed{}.EventName():   {"note"},
	event.Finished{}.EventName():     {"result"},
	event.GaveUp{}.EventName():       {"result", "detail"},
	event.ChildEnded{}.EventName():   {"result", "why"},
	event.Joined{}.EventName():       {"result"},
	event.AdviceTaken{}.EventName():  {"prompt", "answer", "why"},
	event.TicketOpened{}.EventName(): {"question", "options"},
	event.TicketClosed{}.EventName(): {"answer", "detail"},
}

// Withhold returns an entry without the content that only the holders of its task may read. Digests are kept.
func Withhold(e ledger.Entry) ledger.Entry {
	events := make([]ledger.Event, len(e.Events))
	for i, ev := range e.Events {
		events[i] = ledger.Event{Name: ev.Name, Version: ev.Version, Data: withhold(ev.Data, private[ev.Name])}
	}
	e.Events = events
	return e
}

func withhold(data json.RawMessage, fields []string) json.RawMessage {
	var all map[string]json.RawMessage
	if len(fields) == 0 || json.Unmarshal(data, &all) != nil {
		return data
	}
	for _, f := range fields {
		if _, there := all[f]; there {
			all[f] = json.RawMessage(`"withheld"`)
			switch f {
			case "result":
				all[f] = json.RawMessage(`{"text":"withheld"}`)
			case "options":
				all[f] = json.RawMessage(`["withheld"]`)
			}
		}
	}
	out, err := json.Marshal(all)
	if err != nil {
		return json.RawMessage(`{}`) // data that cannot be parsed is withheld too
	}
	return out
}

// EachRow calls fn with the events of an entry.
func EachRow(e ledger.Entry, fn func(Row) error) error {
	_, kind, id := e.Stream.Parts()
	for _, ev := range e.Events {
		x := Row{
			Position: e.Position, Timestamp: e.Time, Kind: kind, ID: id, Event: ev.Name, Agent: actorName(e.Actor.Principal),
			For: e.Actor.For, Details: ev.Data,
		}
		var of struct{ Handoff int }
		if kind == "task" && json.Unmarshal(ev.Data, &of) == nil && of.Handoff > 0 {
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
