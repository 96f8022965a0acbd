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

// MaxSchema is the most bytes a schema may have; an envelope carries no larger one.
const MaxSchema = 64 << 10

// place is the made-up address of the schema under test; nothing can be loaded from it.
const place = "trapeze://schema/expected.json"

// schema is a compiled schema. One result at a time is held against it, because its parts share a meter.
type schema struct {
	mu    sync.Mutex
	root  *jsonschema.Schema
	meter *meter
	bytes int
}

// CheckSchema refuses what is not a JSON Schema, and what is too large, refers to something outside itself, or never
// ends. Drafts 4 to 2020-12 are understood; 2020-12 is taken where $schema is missing. $dynamicRef and $recursiveRef
// are refused. An absent schema is fine.
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
	return refusal.New(refusal.Invalid, "send a JSON Schema that stands on its own",
		"expected_output.schema: "+format, args...).With("field", "expected_output.schema")
}

func compile(raw json.RawMessage) (s *schema, err error) {
	if len(raw) > MaxSchema {
		return nil, refusal.New(refusal.TooLarge, "describe less of it, or give criteria in words",
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
	defer func() { // the library reads what strangers wrote: a fault in it is theirs, not the server's end
		if p := recover(); p != nil {
			s, err = nil, bad("cannot be compiled: %.100v", p)
		}
	}()
	s = &schema{meter: &meter{left: 1 << 30}, bytes: len(raw)}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // the default one reads files
	c.UseRegexpEngine(s.meter.pattern)
	if err := c.AddResource(place, doc); err != nil {
		return nil, bad("%s", explain(err))
	}
	if s.root, err = c.Compile(place); err != nil {
		return nil, bad("%s", explain(err))
	}
	if err := s.meter.install(s.root); err != nil {
		return nil, bad("%v", err)
	}
	return s, nil
}

// explain says what is wrong with a schema without the library's layout.
func explain(err error) string {
	var v *jsonschema.SchemaValidationError
	if errors.As(err, &v) {
		var all *jsonschema.ValidationError
		if errors.As(v.Err, &all) {
			if leaves := leavesOf(all); len(leaves) > 0 {
				return refusal.Clip("is not a JSON Schema: at "+pointer("", leaves[0].InstanceLocation)+": "+said(leaves[0]), 400)
			}
		}
	}
	var scheme *jsonschema.LoadURLError
	if errors.As(err, &scheme) {
		return refusal.Clip(fmt.Sprintf("refers to %q, which is outside it", scheme.URL), 400)
	}
	return refusal.Clip(strings.ReplaceAll(err.Error(), place, ""), 400)
}

// apply adds what the schema finds wrong with a value. The error is a refusal: checking is too much work.
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
		faults[i] = fault{l.InstanceLocation, said(l)}
	}
	slices.SortFunc(faults, func(a, b fault) int { // the library goes through objects in no order
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

// leavesOf are the faults at the bottom, where the reason is.
func leavesOf(e *jsonschema.ValidationError) (leaves []*jsonschema.ValidationError) {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	for _, c := range e.Causes {
		leaves = append(leaves, leavesOf(c)...)
	}
	return leaves
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

// said is the fault in words. The library writes the place in front; ours is there already.
func said(e *jsonschema.ValidationError) string {
	one := *e
	one.Causes = nil
	if k, is := one.ErrorKind.(*kind.AdditionalProperties); is { // the library lists them in no order
		one.ErrorKind = &kind.AdditionalProperties{Properties: slices.Sorted(slices.Values(k.Properties))}
	}
	_, what, ok := strings.Cut(strings.TrimSpace(one.Error()), ": ")
	if !ok {
		return one.Error()
	}
	return what
}
