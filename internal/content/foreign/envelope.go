package foreign

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/event/idform"
)

// An envelope of Trapeze comes from another server, or from this one at another time. It is read in any supported major.
// Its content continues in the first envelope of a new task, with the fields of a newer minor in their places. Its digest,
// its parent and its history are claims: they prove nothing here, and become no entries of this record.

// claimNotes are the notes on the fields that are claims, or that this server sets itself.
var claimNotes = map[string]string{
	"salt":         "",
	"parent":       "kept as claimed: the new task's envelopes are a chain of their own",
	"created_at":   "",
	"expires_at":   "kept as claimed: it is the expiry of that envelope, not a deadline of the task",
	"hops":         "kept as claimed: the new task begins with 0",
	"trace":        "",
	"handoff":      "kept as claimed; the sender of the new task is the principal that imports it",
	"history":      "kept word for word as claimed history; it becomes no entry of this record",
	"constraints":  "bind the new task; their origin is the principal that imports them",
	"memory":       "kept as claimed with their texts; items of this server that you may read go along as they are now, the others are gaps",
	"conversation": "kept word for word as claimed; it becomes no conversation of this record",
	"artifacts":    "kept if their content is stored here and readable, gaps otherwise",
	"omissions":    "kept as claimed: the omitted parts are on the server that it comes from",
	"gaps":         "",
	"packing":      "",
}

// hasVersion reports whether a document has a version like those of envelopes.
func hasVersion(fields map[string]json.RawMessage) bool {
	var text string
	if json.Unmarshal(fields["version"], &text) != nil {
		return false
	}
	major, minor, ok := strings.Cut(text, ".")
	return ok && digits(major) && digits(minor)
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// unwrap takes an envelope and its expected digest out of the output of `envelope show --json` and the API.
func unwrap(doc []byte, fields map[string]json.RawMessage) (inner []byte, innerFields map[string]json.RawMessage, digest string) {
	raw, wrapped := fields["envelope"]
	var in map[string]json.RawMessage
	if !wrapped || json.Unmarshal(raw, &in) != nil || json.Unmarshal(fields["digest"], &digest) != nil {
		return doc, fields, ""
	}
	if !hasVersion(in) {
		return doc, fields, ""
	}
	return raw, in, digest
}

// envelopeOf reads an envelope of any supported major. digest is the expected digest; empty if it is not given.
func envelopeOf(doc []byte, digest string, majors envelope.Converter) (Task, []Note, error) {
	canonical, err := envelope.Canonical(doc)
	if err != nil {
		return Task{}, nil, err
	}
	actual := envelope.DigestOf(canonical)
	if digest != "" && digest != actual {
		return Task{}, nil, wrong("envelope", "send it exactly as it was exported", "has the digest %s, not %.80s", actual, digest)
	}
	e, lost, err := majors.Read(canonical)
	if err != nil {
		return Task{}, nil, err
	}
	d := &document{task: Task{Format: Envelope}, claimed: map[string]json.RawMessage{}}
	whole, err := envelope.RenderJSON(e)
	if err == nil {
		err = json.Unmarshal(whole, &d.fields)
	}
	if err != nil {
		return Task{}, nil, err
	}
	for name, text := range claimNotes {
		if raw, ok := d.take(name); ok {
			d.claimed[name] = raw
			if text != "" {
				d.note(name, text)
			}
		}
	}
	d.note("digest", actual+" is kept as claimed: it names that envelope, and nothing in this record")
	if len(lost) > 0 {
		d.note("version", "was converted; these fields were lost: "+strings.Join(lost, ", "))
	}
	d.claim("version")
	d.claimed["digest"], _ = json.Marshal(actual) //nolint:errchkjson // a string always has JSON
	d.ofEnvelope(e)
	d.finish()
	return d.task, sorted(d.notes), d.err
}

// ofEnvelope copies the content of an envelope.
func (d *document) ofEnvelope(e envelope.Envelope) {
	h, t := e.Handoff, &d.task
	if len(h.To) > 0 {
		t.Target = h.To[0]
	}
	t.Intent, t.Reason, t.Detail, t.Priority, t.Permissions = e.Task.Intent, h.Reason, h.Detail, e.Priority, h.Permissions
	if t.Timeouts.Ack = event.Duration(h.TimeoutSeconds) * 1e9; t.Timeouts.Ack > 0 && t.Timeouts.Ack < event.Duration(event.MinAck) {
		t.Timeouts.Ack = event.Duration(event.MinAck)
		d.note("handoff.timeout_seconds", "raised to the least, "+event.MinAck.String())
	}
	t.Expires, t.Artifacts = e.ExpiresAt, e.Artifacts
	t.Content.Notes, t.Content.Confidence = h.Notes, e.Confidence
	if slices.ContainsFunc(slices.Concat(e.KeyFacts, e.Decisions), func(i envelope.Item) bool { return i.By != "" }) {
		d.note("by", "is not kept: in the new task the facts and decisions are those of the principal that imports them")
	}
	x := e.ExpectedOutput
	t.Expected = event.Expected{Format: x.Format, MaxBytes: x.MaxBytes, Criteria: x.Criteria, Schema: x.Schema}
	for i, c := range e.Constraints {
		d.add(i, "constraints", event.Constraint{ID: c.ID, Kind: c.Kind, Text: c.Text, Hard: c.Hard, Max: c.Max, Allow: c.Allow})
	}
	for _, m := range e.Memory {
		t.Memory = append(t.Memory, m.ID)
	}
	if err := t.Timeouts.Check(); err != nil {
		d.fail(at("handoff.timeout_seconds", err))
	}
	if err := event.CheckNewLabels("a permission", t.Permissions, event.MaxPermissions); err != nil {
		d.fail(at("handoff.permissions", err))
	}
	first := e.Next("")
	first.KeyFacts, first.Decisions = d.plainIDs("key_facts", "f", e.KeyFacts), d.plainIDs("decisions", "d", e.Decisions)
	first.History, first.Memory, first.Artifacts, first.Conversation, first.Dropped = nil, nil, nil, nil, nil
	first.CreatedAt, first.ExpiresAt, first.Hops, first.Trace = time.Time{}, time.Time{}, 0, envelope.Trace{}
	first.Handoff.HandoffID, first.Handoff.Dependencies = "", nil
	raw, err := envelope.RenderJSON(first)
	if err != nil {
		d.fail(err)
	}
	t.Envelope = raw
}

func sorted(notes []Note) []Note {
	slices.SortStableFunc(notes, func(a, b Note) int { return strings.Compare(a.Field, b.Field) })
	return notes
}

// plainIDs renames the facts or decisions whose ids could be taken for others here, with a note: see [idform.FitsPoint] and [event.CheckCase]. What they replaced is
// in the other record.
func (d *document) plainIDs(field, letter string, list []envelope.Item) []envelope.Item {
	unfit := func(id string) bool { return !idform.FitsPoint(id) }
	taken, before := map[string]bool{}, map[string]bool{}
	for i := range list {
		taken[strings.ToLower(list[i].ID)] = true
	}
	list = slices.Clone(list)
	for i := range list {
		item := &list[i]
		item.Lineage = slices.DeleteFunc(slices.Clone(item.Lineage), unfit)
		if unfit(item.Supersedes) {
			item.Supersedes = ""
		}
		if unfit(item.ID) || before[strings.ToLower(item.ID)] {
			for n := i + 1; taken[strings.ToLower(item.ID)]; n++ {
				item.ID = letter + strconv.Itoa(n)
			}
			taken[item.ID] = true
			d.note(field+"["+strconv.Itoa(i)+"]", "has an id that can be taken for another: its id is "+item.ID)
		}
		before[strings.ToLower(item.ID)] = true
	}
	return list
}
