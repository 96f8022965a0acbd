package foreign

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// MaxSize is the greatest size of a document, in bytes.
const MaxSize = envelope.MaxSize

// formatFields are the fields that only one of the formats has.
var formatFields = map[Format][]string{
	HandoffDocument: {"task_context", "audit_trail", "from_agent", "to_agent", "handoff_reason"},
	HandoffContext:  {"original_task", "source_agent", "key_facts", "decisions_made", "collected_data"},
	MemoryEnvelope:  {"task_summary", "memory_refs", "envelope_version", "include_recent", "include_pins"},
}

// sharedField is the one of them that envelopes also have. An envelope is recognised by its version and its handoff.
const sharedField = "key_facts"

// requiredField is the field that holds the intent.
var requiredField = map[Format]string{HandoffDocument: "task_context", HandoffContext: "original_task", MemoryEnvelope: "task_summary"}

// decoders read the fields of each format.
var decoders = map[Format]func(*document){
	HandoffDocument: (*document).handoffDocument,
	HandoffContext:  (*document).handoffContext,
	MemoryEnvelope:  (*document).memoryEnvelope,
}

// Decode reads a document of any of the formats. The notes, sorted by field, say what happened to every field that is not
// copied as it is. Envelopes are read in the majors that the converter supports. Errors are a [refusal.Error] with the code
// invalid or too_large that names the field.
func Decode(doc []byte, majors envelope.Converter) (Task, []Note, error) {
	fields, err := object(doc)
	if err != nil {
		return Task{}, nil, err
	}
	doc, fields, digest := unwrap(doc, fields)
	format, err := detect(fields)
	if err != nil {
		return Task{}, nil, err
	}
	if format == Envelope {
		return envelopeOf(doc, digest, majors)
	}
	d := &document{
		fields: fields, task: Task{Format: format},
		data: map[string]json.RawMessage{}, claimed: map[string]json.RawMessage{},
	}
	decoders[format](d)
	d.rest()
	d.finish()
	if d.err != nil {
		return Task{}, nil, d.err
	}
	return d.task, sorted(d.notes), nil
}

// object reads the outermost object. The detour over canonical form refuses invalid UTF-8, duplicate keys, deep nesting,
// and numbers that no envelope can hold.
func object(doc []byte) (map[string]json.RawMessage, error) {
	if len(doc) > MaxSize {
		return nil, refusal.New(refusal.TooLarge, "[put large things elsewhere](artifact put) and refer to them",
			"document: has %d bytes, the limit is %d", len(doc), MaxSize).With("field", "document").With("limit", MaxSize)
	}
	if _, err := envelope.Canonical(doc); err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(doc, &fields); err != nil || fields == nil {
		return nil, wrong("document", "send one JSON object", "is not a JSON object")
	}
	for name, raw := range fields {
		if string(raw) == "null" { // as if absent
			delete(fields, name)
		}
	}
	return fields, nil
}

func detect(fields map[string]json.RawMessage) (Format, error) {
	found := map[Format][]string{}
	versioned := hasVersion(fields)
	isEnvelope := versioned && jsonType(fields["handoff"]) == "an object"
	for format, names := range formatFields {
		for _, name := range names {
			if _, ok := fields[name]; ok && (name != sharedField || !isEnvelope) {
				found[format] = append(found[format], name)
			}
		}
	}
	if isEnvelope || versioned && len(found) == 0 { // another major may have any other fields
		found[Envelope] = []string{"version"}
	}
	switch len(found) {
	case 1:
		for format := range found {
			return format, nil
		}
	case 0:
		return "", wrong("document", "send a handoff document (task_context, audit_trail), a handoff context (original_task, key_facts), "+
			"a memory envelope (task_summary, memory_refs) or an envelope of Trapeze (version, handoff)", "has none of the fields by which formats are recognised")
	}
	var all []string
	for _, format := range slices.Sorted(maps.Keys(found)) {
		all = append(all, found[format][0]+" ("+string(format)+")")
	}
	return "", wrong("document", "send one document of one format", "has fields of several formats: %s", strings.Join(all, ", "))
}

// rest keeps every field that the decoder of the format did not take.
func (d *document) rest() {
	for _, name := range slices.Sorted(maps.Keys(d.fields)) {
		d.keep(name, "Trapeze has no field for it")
	}
}

// finish checks the whole and encodes the claims and the kept fields.
func (d *document) finish() {
	if strings.TrimSpace(d.task.Intent) == "" {
		d.fail(wrong(requiredField[d.task.Format], "describe in words what is wanted", "does not say what is wanted"))
	}
	format, err := json.Marshal(d.task.Format)
	if err != nil {
		d.fail(err)
	}
	d.claimed["format"] = format
	d.task.Claimed = d.written("the claimed history", d.claimed)
	if len(d.data) > 0 {
		d.task.Content.Data = d.written("the data", d.data)
	}
	if d.err == nil {
		if err := event.CheckConstraints(d.task.Constraints); err != nil {
			d.fail(at("constraints", err))
		}
	}
}

func (d *document) written(what string, fields map[string]json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // keep the text of the document
	if err := e.Encode(fields); err != nil {
		d.fail(err)
		return nil
	}
	raw := bytes.TrimSpace(b.Bytes())
	if err := event.CheckJSON(what, raw, event.MaxData); err != nil {
		d.fail(at("document", err))
	}
	return raw
}
