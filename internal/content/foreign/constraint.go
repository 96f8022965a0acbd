package foreign

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// constraintKinds are the kinds of common constraints, and whether they are hard.
var constraintKinds = map[string]struct {
	kind event.ConstraintKind
	hard bool
}{
	"language":   {event.ConstraintFormat, false},
	"format":     {event.ConstraintFormat, false},
	"security":   {event.ConstraintSecurity, true},
	"style":      {event.ConstraintPreference, false},
	"preference": {event.ConstraintPreference, false},
	"prohibited": {event.ConstraintProhibition, true},
	"forbidden":  {event.ConstraintProhibition, true},
}

// constraints takes the object of constraints: names with a text or a number each.
func (d *document) constraints() {
	raw, ok := d.take("constraints")
	if !ok {
		return
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil || all == nil {
		d.fail(wrong("constraints", "send an object", "is %s, not an object", jsonType(raw)))
		return
	}
	for i, name := range slices.Sorted(maps.Keys(all)) {
		field := "constraints." + name
		value := all[name]
		if string(value) == "null" {
			continue
		}
		switch name {
		case "deadline":
			d.task.Deadline = d.asMoment(field, value)
			d.note(field, "used as the deadline of the task, "+d.task.Deadline.Format(time.RFC3339))
		case "max_tokens":
			d.maxTokens(field, value)
		default:
			d.constraint(i, name, field, value)
		}
	}
}

// maxTokens sets both the token budget of the receiver's context and a budget constraint of the task.
func (d *document) maxTokens(field string, value json.RawMessage) {
	f := d.asNumber(field, value, 1, 1e9)
	if f == nil {
		return
	}
	if *f != float64(int(*f)) {
		d.fail(wrong(field, "send a whole number", "%v is not a whole number", *f))
		return
	}
	d.task.MaxTokens = int(*f)
	d.task.Constraints = append(d.task.Constraints, event.Constraint{
		ID: "max_tokens", Kind: event.ConstraintBudget, Text: "Tokens of context.", Hard: true, Max: f,
	})
}

func (d *document) constraint(i int, name, field string, value json.RawMessage) {
	k, known := constraintKinds[word(name)]
	if !known {
		k.kind = event.ConstraintPreference
		d.note(field, "is of an unknown kind: kept as a preference")
	}
	c := event.Constraint{ID: name, Kind: k.kind, Hard: k.hard}
	text := d.constraintText(field, value)
	if text == "" {
		d.fail(wrong(field, "describe in words what must hold", "is empty"))
		return
	}
	c.Text = name + ": " + text
	d.add(i, field, c)
}

// add adds the i-th constraint, from a field. What a new constraint cannot have in its id or text is changed, with a note.
func (d *document) add(i int, field string, c event.Constraint) {
	if event.CheckConstraintID(c.ID) != nil || event.CheckDistinct(c.ID, d.task.Constraints) != nil {
		c.ID = "constraint-" + strconv.Itoa(i+1)
		d.note(field, "has a name that is not a valid id, or looks like another: its id is "+c.ID)
	}
	if line := event.OneLine(c.Text); line != c.Text {
		c.Text = line
		d.note(field, "is one line now, without control and invisible characters")
	}
	if err := c.CheckNew(); err != nil {
		d.fail(at(field, err))
	}
	d.task.Constraints = append(d.task.Constraints, c)
}

func (d *document) constraintText(field string, value json.RawMessage) string {
	if jsonType(value) == "text" {
		return d.asText(field, value, event.MaxConstraintText)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, value); err != nil {
		d.fail(wrong(field, "send well-formed JSON", "cannot be read"))
	}
	return b.String()
}
