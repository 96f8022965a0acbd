package shell

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/client"
)

// Trail prints what is on record, entry by entry.
func (p *Page) Trail(entries []client.AuditEntry) {
	rows := make([][]string, 0, len(entries))
	for _, e := range entries {
		rows = append(rows, []string{fmt.Sprint(e.Position), Clock(e.Timestamp), e.Event, e.Agent, Clip(EventDetails(e.Details), 90)})
	}
	p.Table("Nothing is on record.", []string{"ENTRY", "TIME", "EVENT", "BY", "DETAILS"}, rows)
}

// EventDetails are the details of an event in short: what is long or only says the same again is left out.
func EventDetails(details json.RawMessage) string {
	dec := json.NewDecoder(strings.NewReader(string(details)))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return ""
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
		if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[{") || skipped[fmt.Sprint(name)] {
			continue
		}
		parts = append(parts, fmt.Sprintf("%v=%s", name, Clip(text, 60)))
	}
	return strings.Join(parts, " ")
}

var skipped = map[string]bool{
	"envelope": true, "digest": true, "parent": true, "at": true, "lease": true, "ends": true, "handoff": true, "task": true, "retries": true,
	"next": true, "confirm": true,
}
