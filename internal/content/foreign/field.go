package foreign

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// maxPoints is the greatest number of facts, decisions, questions or references of a document.
const maxPoints = 500

// document is the state of decoding one document. It keeps the first fault; the results after it are not used.
type document struct {
	fields  map[string]json.RawMessage // not yet taken
	task    Task
	data    map[string]json.RawMessage
	claimed map[string]json.RawMessage
	notes   []Note
	err     error
}

func (d *document) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

func (d *document) note(field, text string) { d.notes = append(d.notes, Note{field, text}) }

// take removes a field and returns it.
func (d *document) take(name string) (json.RawMessage, bool) {
	raw, ok := d.fields[name]
	delete(d.fields, name)
	return raw, ok
}

// keep moves a field to the data under its own name, with a note that gives the reason.
func (d *document) keep(name, why string) {
	if raw, ok := d.take(name); ok {
		d.data[name] = raw
		d.note(name, why+"; kept in data."+name)
	}
}

// claim moves fields on the origin and the history of the document to the claims.
func (d *document) claim(names ...string) {
	for _, name := range names {
		if raw, ok := d.take(name); ok {
			d.claimed[name] = raw
		}
	}
}

// alsoClaim keeps a field among the claims besides its use: what it says counts only if the task is handed to somebody.
func (d *document) alsoClaim(name string) {
	if raw, ok := d.fields[name]; ok {
		d.claimed[name] = raw
	}
}

// text takes a field of text.
func (d *document) text(name string, limit int) string {
	raw, ok := d.take(name)
	if !ok {
		return ""
	}
	return d.asText(name, raw, limit)
}

func (d *document) asText(field string, raw json.RawMessage, limit int) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		d.fail(wrong(field, "send text", "is %s, not text", jsonType(raw)))
		return ""
	}
	if err := event.CheckText("it", s, limit); err != nil {
		d.fail(at(field, err))
	}
	return s
}

// texts takes a list of texts; a single text is a list of one.
func (d *document) texts(name string) []string {
	raw, ok := d.take(name)
	if !ok {
		return nil
	}
	return d.asTexts(name, raw)
}

func (d *document) asTexts(field string, raw json.RawMessage) []string {
	if jsonType(raw) == "text" {
		raw = json.RawMessage("[" + string(raw) + "]")
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		d.fail(wrong(field, "send a list of texts", "is %s, not a list", jsonType(raw)))
		return nil
	}
	if len(list) > maxPoints {
		d.fail(wrong(field, "keep the ones that matter", "has %d entries, the limit is %d", len(list), maxPoints))
		return nil
	}
	texts := make([]string, 0, len(list))
	for i, raw := range list {
		place := field + "[" + strconv.Itoa(i) + "]"
		s := d.asText(place, raw, event.MaxText)
		if strings.TrimSpace(s) == "" {
			d.fail(wrong(place, "describe it in words", "is empty"))
		}
		texts = append(texts, s)
	}
	return texts
}

// points takes a list of facts or decisions and gives them ids.
func (d *document) points(name, letter string) []Point {
	var list []Point
	for i, s := range d.texts(name) {
		list = append(list, Point{ID: letter + strconv.Itoa(i+1), Text: s})
	}
	return list
}

// number takes a number between the bounds; nil if it is absent.
func (d *document) number(name string, least, most float64) *float64 {
	raw, ok := d.take(name)
	if !ok {
		return nil
	}
	return d.asNumber(name, raw, least, most)
}

func (d *document) asNumber(field string, raw json.RawMessage, least, most float64) *float64 {
	var f float64
	if json.Unmarshal(raw, &f) != nil {
		d.fail(wrong(field, "send a number", "is %s, not a number", jsonType(raw)))
		return nil
	}
	if !(f >= least && f <= most) {
		d.fail(wrong(field, "choose a number in the range", "%v is not between %v and %v", f, least, most))
		return nil
	}
	return &f
}

// whole takes a number without fraction.
func (d *document) whole(name string, most int) int {
	f := d.number(name, 0, float64(most))
	if f == nil {
		return 0
	}
	if *f != math.Trunc(*f) {
		d.fail(wrong(name, "send a whole number", "%v is not a whole number", *f))
	}
	return int(*f)
}

func (d *document) flag(name string) (value bool) {
	if raw, ok := d.take(name); ok && json.Unmarshal(raw, &value) != nil {
		d.fail(wrong(name, "send true or false", "is %s, not true or false", jsonType(raw)))
	}
	return value
}

// moment takes a time: seconds since 1970, with a fraction or without, or RFC 3339.
func (d *document) moment(name string) time.Time {
	raw, ok := d.take(name)
	if !ok {
		return time.Time{}
	}
	return d.asMoment(name, raw)
}

const (
	lastSecond = 253402300799 // the end of the year 9999
	timeHint   = "write times like 2026-01-02T15:04:05Z, or as seconds since 1970"
)

func (d *document) asMoment(field string, raw json.RawMessage) time.Time {
	var text string
	var seconds float64
	switch {
	case json.Unmarshal(raw, &text) == nil:
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			d.fail(wrong(field, timeHint, "%.40q is not a time", text))
		}
		return t.UTC()
	case json.Unmarshal(raw, &seconds) != nil:
		d.fail(wrong(field, timeHint, "is %s, not a time", jsonType(raw)))
	case seconds < 0 || seconds > lastSecond:
		d.fail(wrong(field, timeHint, "%.40s is not between 1970 and 9999 in seconds", raw))
	}
	if d.err != nil {
		return time.Time{}
	}
	whole, fraction := math.Modf(seconds)
	return time.Unix(int64(whole), int64(math.Round(fraction*1e6))*1000).UTC() // a double is good for microseconds
}

// jsonType names the type of a JSON value in an error.
func jsonType(raw json.RawMessage) string {
	switch s := strings.TrimLeft(string(raw), " \t\r\n"); {
	case s == "":
		return "nothing"
	case s[0] == '{':
		return "an object"
	case s[0] == '[':
		return "a list"
	case s[0] == '"':
		return "text"
	case s[0] == 't', s[0] == 'f':
		return "true or false"
	case s[0] == 'n':
		return "null"
	}
	return "a number"
}

// wrong is the refusal of one field.
func wrong(field, hint, format string, args ...any) error {
	return refusal.New(refusal.Invalid, hint, "%s: "+format, append([]any{field}, args...)...).With("field", field)
}

// at adds the field to a refusal of another package.
func at(field string, err error) error {
	if r, ok := refusal.As(err); ok {
		return r.Saying("%s: %s", field, r.Message).With("field", field)
	}
	return err
}
