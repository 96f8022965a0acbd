package shell

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/client"
)

// maxDetails is how many characters of an event's details a line has.
const maxDetails = 90

// Trail prints what is on record, entry by entry, and says so where details had to be cut.
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
	p.Table("Nothing is on record.", []string{"ENTRY", "TIME", "EVENT", "BY", "DETAILS"}, rows)
	if cut {
		p.Line("\nSome details are cut: --json has them whole, and trapeze handoff show ID has why a handoff went where it did.")
	}
}

// eventDetails are the details of an event in short, and whether anything long was cut or left out. What only says the same
// again is left out without a word.
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
		if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[{") {
			short = true
			continue
		}
		part := Clip(text, 60)
		short = short || part != text
		parts = append(parts, fmt.Sprintf("%v=%s", name, part))
	}
	return strings.Join(parts, " "), short
}

var skipped = map[string]bool{
	"envelope": true, "digest": true, "parent": true, "at": true, "lease": true, "ends": true, "handoff": true, "task": true, "retries": true,
	"next": true, "confirm": true,
}
