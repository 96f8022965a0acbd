package envelope

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/content/canonical"
)

// part is one JSON object of the document: its place, and the map for its unknown fields.
type part struct {
	name    string // the member of the document that holds it; empty for the document itself
	index   int    // its index in that member's list; -1 if the member is not a list
	extra   *Extra
	defined map[string]bool // the names of its fields in this version
}

// The field names of each kind of object in this version.
var (
	envelopeFields   = fieldNames[Envelope]()
	headerFields     = fieldNames[Header]()
	taskFields       = fieldNames[Task]()
	itemFields       = fieldNames[Item]()
	stepFields       = fieldNames[Step]()
	constraintFields = fieldNames[Constraint]()
	expectedFields   = fieldNames[Expected]()
	traceFields      = fieldNames[Trace]()
	authorFields     = fieldNames[Authors]()
	memoryFields     = fieldNames[MemoryRef]()
	artifactFields   = fieldNames[Artifact]()
	turnFields       = fieldNames[Turn]()
	omissionFields   = fieldNames[Omission]()
	gapFields        = fieldNames[Gap]()
	droppedFields    = fieldNames[Dropped]()
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

// An extensible is an object of the document that keeps the fields of newer versions.
type extensible[T any] interface {
	*T
	extra() *Extra
}

func (x *Item) extra() *Extra       { return &x.Extra }
func (x *Step) extra() *Extra       { return &x.Extra }
func (x *Constraint) extra() *Extra { return &x.Extra }
func (x *MemoryRef) extra() *Extra  { return &x.Extra }
func (x *Artifact) extra() *Extra   { return &x.Extra }
func (x *Turn) extra() *Extra       { return &x.Extra }
func (x *Omission) extra() *Extra   { return &x.Extra }
func (x *Gap) extra() *Extra        { return &x.Extra }
func (x *Dropped) extra() *Extra    { return &x.Extra }

func listParts[T any, P extensible[T]](parts []part, name string, list []T, defined map[string]bool) []part {
	for i := range list {
		parts = append(parts, part{name, i, P(&list[i]).extra(), defined})
	}
	return parts
}

func countExtra[T any, P extensible[T]](list []T) (n int) {
	for i := range list {
		n += len(*P(&list[i]).extra())
	}
	return n
}

// parts lists every object of the document.
func (e *Envelope) parts() []part {
	list := []part{
		{"", -1, &e.Extra, envelopeFields},
		{"handoff", -1, &e.Handoff.Extra, headerFields},
		{"task", -1, &e.Task.Extra, taskFields},
		{"expected_output", -1, &e.ExpectedOutput.Extra, expectedFields},
		{"trace", -1, &e.Trace.Extra, traceFields},
		{"text_by", -1, &e.TextBy.Extra, authorFields},
		{"packing", -1, &e.Packing.Extra, packingFields},
	}
	list = listParts(list, "key_facts", e.KeyFacts, itemFields)
	list = listParts(list, "decisions", e.Decisions, itemFields)
	list = listParts(list, "history", e.History, stepFields)
	list = listParts(list, "constraints", e.Constraints, constraintFields)
	list = listParts(list, "memory", e.Memory, memoryFields)
	list = listParts(list, "artifacts", e.Artifacts, artifactFields)
	list = listParts(list, "conversation", e.Conversation, turnFields)
	list = listParts(list, "omissions", e.Omissions, omissionFields)
	list = listParts(list, "gaps", e.Gaps, gapFields)
	return listParts(list, "dropped", e.Dropped, droppedFields)
}

func (e *Envelope) hasExtra() bool {
	n := len(e.Extra) + len(e.Handoff.Extra) + len(e.Task.Extra) + len(e.ExpectedOutput.Extra) + len(e.Trace.Extra) + len(e.TextBy.Extra) + len(e.Packing.Extra)
	n += countExtra(e.KeyFacts) + countExtra(e.Decisions) + countExtra(e.History) + countExtra(e.Constraints)
	n += countExtra(e.Memory) + countExtra(e.Artifacts) + countExtra(e.Conversation) + countExtra(e.Omissions) + countExtra(e.Gaps) + countExtra(e.Dropped)
	return n > 0
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

// in returns the part of a decoded document; nil if the document does not have it.
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

// keepExtras copies the fields of doc that this version does not define into the Extra maps of e.
func keepExtras(e *Envelope, doc []byte, newer bool) error {
	tree, err := asTree(doc)
	if err != nil {
		return err
	}
	for _, p := range e.parts() {
		for field, value := range p.in(tree) {
			if p.defined[field] {
				continue
			}
			if err := p.mayKeep(field, e.Version, newer); err != nil {
				return err
			}
			raw, err := json.Marshal(value)
			if err != nil {
				return invalid(p.path(field), "send well-formed JSON", "cannot be kept: %v", err)
			}
			if raw, err = canonical.JSON(raw, MaxDepth+slack); err != nil {
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

// mayKeep refuses unknown fields in documents that are not of a newer version. It always refuses a name that differs from
// a defined one only in case: the standard decoder, and other readers, take it for the defined one.
func (p part) mayKeep(field, version string, newer bool) error {
	for name := range p.defined {
		if strings.EqualFold(name, field) {
			return invalid(p.path(name), "write field names in lower case", "is written %.40q", field)
		}
	}
	if !utf8.ValidString(field) {
		return invalid(p.path("?"), "write field names in UTF-8", "has a name that is not valid UTF-8")
	}
	if !newer {
		return invalid(p.path(canonical.Brief([]byte(field))), "check the spelling, or set version to the minor that defines it", "is not a field of version %s", version)
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
			if p.defined[field] {
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
