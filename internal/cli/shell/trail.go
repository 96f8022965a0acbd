package shell

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/client"
)

// maxDetails is the maximum length of an event's details, in characters.
const maxDetails = 90

// Trail prints entries of the record, and says if details had to be cut.
func (p *Page) Trail(entries []client.AuditEntry) {
	rows := make([][]string, 0, len(entries))
	cut := false
	for _, e := range entries {
		details, short := eventDetails(e.Details)
		if line := Clip(details, maxDetails); line != details || short {
			cut, details = true, line
		}
		rows = append(rows, []string{fmt.Sprint(e.Position), Clock(e.Timestamp), e.Event, e.Agent, details})
	}
	p.Table("There are no entries.", []string{"ENTRY", "TIME", "EVENT", "BY", "DETAILS"}, rows)
	if cut {
		p.Line("")
		p.Next("Some details are cut. --json prints them in full; trapeze handoff show ID explains the choice of a receiver.")
	}
}

// eventDetails formats the details of an event, and reports whether long values were cut or omitted. Redundant fields are always
// omitted.
func eventDetails(details json.RawMessage) (line string, short bool) {
	dec := json.NewDecoder(strings.NewReader(string(details)))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return "", false
	}
	var parts []string
	for dec.More() {
		name, err := dec.Token()
		var value json.RawMessage
		if err == nil {
			err = dec.Decode(&value)
		}
		if err != nil {
			break
		}
		text := strings.Trim(string(value), `"`)
		if skipped[fmt.Sprint(name)] {
			continue
		}
		if name != "budget" && strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[{") {
			short = true
			continue
		}
		part := Clip(text, 60)
		short = short || part != text
		parts = append(parts, fmt.Sprintf("%v=%s", name, part))
	}
	return strings.Join(parts, " "), short
}

// skipped are redundant fields.
var skipped = map[string]bool{
	"envelope": true, "digest": true, "parent": true, "at": true, "lease": true, "ends": true, "handoff": true, "task": true, "retries": true,
	"next": true, "confirm": true,
}
