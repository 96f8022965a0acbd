package expect

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// MaxSchema is the greatest size of a schema in bytes; an envelope carries no larger one.
const MaxSchema = 64 << 10

// schemaURL is the fictitious address of the schema; nothing can be loaded from it.
const schemaURL = "trapeze://schema/expected.json"

// schema is a compiled schema. It checks one result at a time, because its subschemas share a meter.
type schema struct {
	mu    sync.Mutex
	root  *jsonschema.Schema
	meter *meter
	bytes int
}

// CheckSchema refuses a text that is not a JSON Schema, is too large, refers to something outside itself, or recurses
// without end. Drafts 4 to 2020-12 are supported; without $schema it is 2020-12. $dynamicRef and $recursiveRef are refused.
// An absent schema is valid.
func (c *Checker) CheckSchema(raw json.RawMessage) error {
	if len(raw) == 0 {
		return nil
	}
	_, err := c.compiled(raw)
	return err
}

func (c *Checker) compiled(raw json.RawMessage) (*schema, error) {
	key, s := c.schemas.get(raw)
	if s != nil {
		return s, nil
	}
	s, err := compile(raw)
	if err != nil {
		return nil, err
	}
	c.schemas.put(key, s)
	return s, nil
}

func bad(format string, args ...any) error {
	return refusal.New(refusal.Invalid, "send a JSON Schema without references to others",
		"expected_output.schema: "+format, args...).With("field", "expected_output.schema")
}

func compile(raw json.RawMessage) (s *schema, err error) {
	if len(raw) > MaxSchema {
		return nil, refusal.New(refusal.TooLarge, "describe less of the result, or give criteria in words",
			"expected_output.schema: has %d bytes, the limit is %d", len(raw), MaxSchema).
			With("field", "expected_output.schema").With("limit", MaxSchema)
	}
	doc, err := decode(raw)
	if err != nil {
		return nil, bad("%v", err)
	}
	switch doc.(type) {
	case map[string]any, bool:
	default:
		return nil, bad("is neither an object nor a boolean")
	}
	defer func() { // a panic of the library on a hostile schema is a fault of the schema
		if p := recover(); p != nil {
			s, err = nil, bad("cannot be compiled: %.100v", p)
		}
	}()
	s = &schema{meter: &meter{left: 1 << 30}, bytes: len(raw)}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // the default one reads files
	c.UseRegexpEngine(s.meter.pattern)
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, bad("%s", explain(err))
	}
	if s.root, err = c.Compile(schemaURL); err != nil {
		return nil, bad("%s", explain(err))
	}
	if err := s.meter.install(s.root); err != nil {
		return nil, bad("%v", err)
	}
	return s, nil
}

// explain returns the fault of a schema without the layout of the library.
func explain(err error) string {
	var v *jsonschema.SchemaValidationError
	if errors.As(err, &v) {
		var all *jsonschema.ValidationError
		if errors.As(v.Err, &all) {
			if leaves := leavesOf(all); len(leaves) > 0 {
				return refusal.Clip("is not a JSON Schema: at "+pointer("", leaves[0].InstanceLocation)+": "+message(leaves[0]), 400)
			}
		}
	}
	var scheme *jsonschema.LoadURLError
	if errors.As(err, &scheme) {
		return refusal.Clip(fmt.Sprintf("refers to %q, which is outside it", scheme.URL), 400)
	}
	return refusal.Clip(strings.ReplaceAll(err.Error(), schemaURL, ""), 400)
}

// apply adds the faults that the schema finds in a value. The error is a refusal of checks that take too many steps.
func (s *schema) apply(where string, v any, steps int, found *findings) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meter.left = steps
	defer func() {
		switch p := recover(); p {
		case nil:
		case errSpent:
			err = refusal.New(refusal.Invalid, "send a smaller or simpler result, or ask for a simpler schema",
				"the result is too much work to check: more than %d steps", steps)
		default:
			err = refusal.New(refusal.Invalid, "ask for a simpler schema", "the result cannot be checked: %.100v", p)
		}
	}()
	fails := s.root.Validate(v)
	if fails == nil {
		return nil
	}
	var all *jsonschema.ValidationError
	if !errors.As(fails, &all) {
		found.add(where, "%v", fails)
		return nil
	}
	leaves := leavesOf(all)
	faults := make([]fault, len(leaves))
	for i, l := range leaves {
		faults[i] = fault{l.InstanceLocation, message(l)}
	}
	slices.SortFunc(faults, func(a, b fault) int { // the library walks objects in random order
		return cmp.Or(slices.Compare(a.location, b.location), cmp.Compare(a.what, b.what))
	})
	for _, f := range faults {
		found.add(pointer(where, f.location), "%s", f.what)
	}
	return nil
}

type fault struct {
	location []string
	what     string
}

// leavesOf returns the innermost errors, which hold the reasons: each fault of a subschema at a place once, however many branches
// lead to it. Branches multiply at every level, and faults do not.
func leavesOf(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	l := leaves{seen: map[string]bool{}}
	l.walk(e)
	return l.list
}

type leaves struct {
	list []*jsonschema.ValidationError
	seen map[string]bool
	key  []byte // of the error at hand
}

func (l *leaves) walk(e *jsonschema.ValidationError) {
	if len(e.Causes) > 0 {
		for _, c := range e.Causes {
			l.walk(c)
		}
		return
	}
	l.key = append(l.key[:0], e.SchemaURL...)
	for _, k := range e.ErrorKind.KeywordPath() {
		l.key = append(append(l.key, 0), k...)
	}
	for _, step := range e.InstanceLocation {
		l.key = append(append(l.key, 1), step...)
	}
	if !l.seen[string(l.key)] {
		l.seen[string(l.key)] = true
		l.list = append(l.list, e)
	}
}

func pointer(where string, location []string) string {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	var b strings.Builder
	b.WriteString(where)
	for _, step := range location {
		b.WriteByte('/')
		b.WriteString(escape.Replace(step))
	}
	if b.Len() == 0 {
		return "the root"
	}
	return b.String()
}

// message returns the text of an error without the place that the library puts in front.
func message(e *jsonschema.ValidationError) string {
	one := *e
	one.Causes = nil
	if k, is := one.ErrorKind.(*kind.AdditionalProperties); is { // the library lists them in random order
		one.ErrorKind = &kind.AdditionalProperties{Properties: slices.Sorted(slices.Values(k.Properties))}
	}
	_, what, ok := strings.Cut(strings.TrimSpace(one.Error()), ": ")
	if !ok {
		return one.Error()
	}
	return what
}
