package envelope

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// part is one JSON object of the document: where it stands, and where its unknown fields go.
type part struct {
	name  string // the member of the document that holds it; empty for the document itself
	index int    // its place in that member's list; -1 if it is no list
	extra *Extra
	known map[string]bool
}

// The names each kind of object may have in this version.
var (
	envelopeFields   = fieldNames[Envelope]()
	headerFields     = fieldNames[Header]()
	taskFields       = fieldNames[Task]()
	itemFields       = fieldNames[Item]()
	stepFields       = fieldNames[Step]()
	constraintFields = fieldNames[Constraint]()
	expectedFields   = fieldNames[Expected]()
	traceFields      = fieldNames[Trace]()
	memoryFields     = fieldNames[MemoryRef]()
	artifactFields   = fieldNames[Artifact]()
	turnFields       = fieldNames[Turn]()
	omissionFields   = fieldNames[Omission]()
	gapFields        = fieldNames[Gap]()
	packingFields    = fieldNames[Packing]()
)

func fieldNames[T any]() map[string]bool {
	names := map[string]bool{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if f.Anonymous {
			continue
		}
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" {
			names[name] = true
		}
	}
	return names
}

// parts lists every object of the document.
func (e *Envelope) parts() []part {
	list := []part{
		{"", -1, &e.Extra, envelopeFields},
		{"handoff", -1, &e.Handoff.Extra, headerFields},
		{"task", -1, &e.Task.Extra, taskFields},
		{"expected_output", -1, &e.ExpectedOutput.Extra, expectedFields},
		{"trace", -1, &e.Trace.Extra, traceFields},
		{"packing", -1, &e.Packing.Extra, packingFields},
	}
	for i := range e.KeyFacts {
		list = append(list, part{"key_facts", i, &e.KeyFacts[i].Extra, itemFields})
	}
	for i := range e.Decisions {
		list = append(list, part{"decisions", i, &e.Decisions[i].Extra, itemFields})
	}
	for i := range e.History {
		list = append(list, part{"history", i, &e.History[i].Extra, stepFields})
	}
	for i := range e.Constraints {
		list = append(list, part{"constraints", i, &e.Constraints[i].Extra, constraintFields})
	}
	return append(list, e.refParts()...)
}

func (e *Envelope) hasExtra() bool {
	n := len(e.Extra) + len(e.Handoff.Extra) + len(e.Task.Extra) + len(e.ExpectedOutput.Extra) + len(e.Trace.Extra)
	for i := range e.KeyFacts {
		n += len(e.KeyFacts[i].Extra)
	}
	for i := range e.Decisions {
		n += len(e.Decisions[i].Extra)
	}
	for i := range e.History {
		n += len(e.History[i].Extra)
	}
	for i := range e.Constraints {
		n += len(e.Constraints[i].Extra)
	}
	return n > 0 || e.refsHaveExtra()
}

func (p part) path(field string) string {
	switch {
	case p.name == "":
		return field
	case p.index < 0:
		return p.name + "." + field
	default:
		return p.name + "[" + strconv.Itoa(p.index) + "]." + field
	}
}

// in finds the part in a decoded document; nil if it is not there.
func (p part) in(tree map[string]any) map[string]any {
	if p.name == "" {
		return tree
	}
	node := tree[p.name]
	if list, ok := node.([]any); ok && p.index >= 0 && p.index < len(list) {
		node = list[p.index]
	}
	object, _ := node.(map[string]any)
	return object
}

// keepExtras moves the fields of doc that this version does not know into the Extra maps of e.
func keepExtras(e *Envelope, doc []byte, newer bool) error {
	tree, err := asTree(doc)
	if err != nil {
		return err
	}
	for _, p := range e.parts() {
		for field, value := range p.in(tree) {
			if p.known[field] {
				continue
			}
			if err := p.mayKeep(field, e.Version, newer); err != nil {
				return err
			}
			raw, err := json.Marshal(value)
			if err != nil {
				return invalid(p.path(field), "send well-formed JSON", "cannot be kept: %v", err)
			}
			if raw, err = canonical(raw, MaxDepth+slack); err != nil {
				return badJSON(p.path(field), err)
			}
			if *p.extra == nil {
				*p.extra = Extra{}
			}
			(*p.extra)[field] = raw
		}
	}
	return nil
}

// mayKeep refuses unknown fields that are no newer version's. A name that differs from a known one only in case is
// always refused: the standard decoder, and other readers, take it for the known one.
func (p part) mayKeep(field, version string, newer bool) error {
	for known := range p.known {
		if strings.EqualFold(known, field) {
			return invalid(p.path(known), "write field names in lower case", "is written %.40q", field)
		}
	}
	if !utf8.ValidString(field) {
		return invalid(p.path("?"), "write field names in UTF-8", "has a name that is not valid UTF-8")
	}
	if !newer {
		return invalid(p.path(brief([]byte(field))), "check the spelling, or set version to the minor that has it", "is not a field of version %s", version)
	}
	return nil
}

// withExtras adds the Extra fields of e to its JSON.
func withExtras(e *Envelope, doc []byte) ([]byte, error) {
	newer, err := checkVersion(e.Version)
	if err != nil {
		return nil, err
	}
	tree, err := asTree(doc)
	if err != nil {
		return nil, err
	}
	for _, p := range e.parts() {
		object := p.in(tree)
		for field, value := range *p.extra {
			if p.known[field] {
				return nil, invalid(p.path(field), "set the field itself", "is also given as an extra field")
			}
			if err := p.mayKeep(field, e.Version, newer); err != nil {
				return nil, err
			}
			object[field] = value
		}
	}
	raw, err := json.Marshal(tree)
	if err != nil {
		return nil, invalid("envelope", "extra fields must be well-formed JSON", "cannot be written: %v", err)
	}
	return raw, nil
}

func asTree(doc []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber() // numbers stay as they are written
	var tree map[string]any
	if err := d.Decode(&tree); err != nil {
		return nil, wrongType(err)
	}
	return tree, nil
}
