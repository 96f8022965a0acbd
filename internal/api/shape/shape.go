package shape

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
)

// Shape is a JSON Schema in a form that is validated in one pass over the text. A positive answer is certain; a negative answer means
// that huma must decide. So a shape need not support every keyword of the schema, but it must not ignore one.
type Shape struct {
	kind     string // a type of JSON Schema; empty means any
	unsure   bool   // the schema has keywords that a shape does not support
	nullable bool

	fields   map[string]*Shape // of an object
	required map[string]bool
	others   *Shape // additional fields; nil means none are allowed
	items    *Shape // of an array

	words            []string // enum of a string; nil means any
	shortest         int      // characters of a string, items of an array
	longest          int      // negative means no limit
	pattern          *regexp.Regexp
	minimum, maximum *float64
}

// anything accepts any JSON that huma can read.
var anything = &Shape{}

// Maker converts schemas to shapes, each once: schemas may be recursive.
type Maker struct {
	schemas huma.Registry
	made    map[*huma.Schema]*Shape
}

// NewMaker returns a maker for the schemas of a registry.
func NewMaker(schemas huma.Registry) *Maker {
	return &Maker{schemas: schemas, made: map[*huma.Schema]*Shape{}}
}

// Of returns the shape of a schema.
func (m *Maker) Of(s *huma.Schema) *Shape {
	for s != nil && s.Ref != "" {
		s = m.schemas.SchemaFromRef(s.Ref)
	}
	if s == nil {
		return &Shape{unsure: true}
	}
	if made := m.made[s]; made != nil {
		return made
	}
	made := &Shape{}
	m.made[s] = made
	made.kind, made.nullable, made.unsure = s.Type, s.Nullable, beyondShapes(s)
	made.minimum, made.maximum = s.Minimum, s.Maximum
	switch s.Type {
	case huma.TypeObject:
		m.object(made, s)
	case huma.TypeArray:
		made.items = m.Of(s.Items)
		made.between(s.MinItems, s.MaxItems)
	case huma.TypeString:
		made.text(s)
	}
	return made
}

// beyondShapes reports whether a schema has keywords that a shape does not support.
func beyondShapes(s *huma.Schema) bool {
	known := []string{"", huma.TypeObject, huma.TypeArray, huma.TypeString, huma.TypeBoolean, huma.TypeInteger, huma.TypeNumber}
	return !slices.Contains(known, s.Type) ||
		len(s.OneOf)+len(s.AnyOf)+len(s.AllOf) > 0 || s.Not != nil || s.Const != nil || s.Default != nil ||
		s.ExclusiveMinimum != nil || s.ExclusiveMaximum != nil || s.MultipleOf != nil ||
		s.UniqueItems || s.MinProperties != nil || s.MaxProperties != nil ||
		s.ContentEncoding != "" || len(s.DependentRequired) > 0 ||
		len(s.Enum) > 0 && s.Type != huma.TypeString || s.Format != "" && s.Type == huma.TypeString
}

func (m *Maker) object(made *Shape, s *huma.Schema) {
	made.fields, made.required, made.others = map[string]*Shape{}, map[string]bool{}, anything
	for name, property := range s.Properties {
		made.fields[name] = m.Of(property)
	}
	for _, name := range s.Required {
		made.required[name] = true
	}
	switch more := s.AdditionalProperties.(type) {
	case bool:
		if !more {
			made.others = nil
		}
	case *huma.Schema:
		made.others = m.Of(more)
	}
}

func (f *Shape) between(shortest, longest *int) {
	f.longest = -1
	if shortest != nil {
		f.shortest = *shortest
	}
	if longest != nil {
		f.longest = *longest
	}
}

func (f *Shape) text(s *huma.Schema) {
	f.between(s.MinLength, s.MaxLength)
	if s.Pattern != "" {
		f.pattern = regexp.MustCompile(s.Pattern) // huma has compiled it before
	}
	for _, w := range s.Enum {
		word, _ := w.(string)
		f.words = append(f.words, word)
	}
}

// Fits reports whether a text, which must be well-formed JSON in UTF-8, certainly satisfies the schema and [Check].
func (f *Shape) Fits(text []byte) bool {
	c := checker{text: text}
	return c.value(f)
}

// checker reads a well-formed text once.
type checker struct {
	text  []byte
	at    int
	depth int
}

// next skips white space and returns the byte that follows.
func (c *checker) next() byte {
	for {
		switch b := c.text[c.at]; b {
		case ' ', '\t', '\n', '\r':
			c.at++
		default:
			return b
		}
	}
}

func (c *checker) value(f *Shape) bool {
	if f.unsure {
		return false
	}
	switch first := c.next(); first {
	case '{':
		return (f.kind == huma.TypeObject || f.kind == "") && c.object(f)
	case '[':
		return (f.kind == huma.TypeArray || f.kind == "") && c.list(f)
	case '"':
		quoted := c.quoted()
		return f.kind == "" || f.kind == huma.TypeString && f.takesText(unquoted(quoted))
	case 't', 'f':
		c.at += len("true")
		if first == 'f' {
			c.at++
		}
		return f.kind == huma.TypeBoolean || f.kind == ""
	case 'n':
		c.at += len("null")
		return f.nullable || f.kind == ""
	default:
		return c.number(f)
	}
}

// quoted reads a string, including its quotes.
func (c *checker) quoted() []byte {
	start := c.at
	c.at = stringEnd(c.text, start)
	return c.text[start:c.at]
}

// unquoted returns the value of a quoted string.
func unquoted(quoted []byte) []byte {
	if !slices.Contains(quoted, '\\') {
		return quoted[1 : len(quoted)-1]
	}
	var s string
	_ = json.Unmarshal(quoted, &s) // it is well-formed
	return []byte(s)
}

func (f *Shape) takesText(text []byte) bool {
	if f.words != nil && !slices.Contains(f.words, string(text)) {
		return false
	}
	if f.shortest > 0 || f.longest >= 0 {
		n := utf8.RuneCount(text)
		if n < f.shortest || f.longest >= 0 && n > f.longest {
			return false
		}
	}
	return f.pattern == nil || f.pattern.Match(text)
}

// number reads a number. huma refuses a number that does not fit a float64 anywhere in a text.
func (c *checker) number(f *Shape) bool {
	start := c.at
	for c.at < len(c.text) && numeric[c.text[c.at]] {
		c.at++
	}
	n, err := strconv.ParseFloat(string(c.text[start:c.at]), 64)
	if err != nil {
		return false
	}
	switch f.kind {
	case huma.TypeInteger:
		if n != float64(int64(n)) {
			return false
		}
	case huma.TypeNumber:
	default:
		return f.kind == ""
	}
	return (f.minimum == nil || n >= *f.minimum) && (f.maximum == nil || n <= *f.maximum)
}

var numeric = func() (t [256]bool) {
	for _, b := range []byte("+-.0123456789eE") {
		t[b] = true
	}
	return t
}()

func (c *checker) enter() bool {
	c.depth++
	c.at++
	return c.depth <= MaxDepth
}

func (c *checker) leave() bool {
	c.depth--
	c.at++
	return true
}

func (c *checker) list(f *Shape) bool {
	items := f.items
	if items == nil {
		items = anything
	}
	if !c.enter() {
		return false
	}
	n := 0
	for ; c.next() != ']'; n++ {
		if !c.value(items) {
			return false
		}
		if c.next() == ',' {
			c.at++
		}
	}
	if f.kind == huma.TypeArray && (n < f.shortest || f.longest >= 0 && n > f.longest) {
		return false
	}
	return c.leave()
}

func (c *checker) object(f *Shape) bool {
	if !c.enter() {
		return false
	}
	var seen names
	missing := len(f.required)
	for c.next() != '}' {
		name := unquoted(c.quoted())
		if !seen.add(name) {
			return false
		}
		part, known := f.fields[string(name)]
		must := known && f.required[string(name)]
		if must {
			missing--
		}
		if !known {
			if part = f.others; f.kind == "" {
				part = anything
			}
		}
		c.next()
		c.at++ // the colon
		switch {
		case part == nil:
			return false
		case known && !must && c.next() == 'n': // null counts as absent
			c.at += len("null")
		case !c.value(part):
			return false
		}
		if c.next() == ',' {
			c.at++
		}
	}
	return missing == 0 && c.leave()
}

// names are the fields of an object read so far.
type names struct {
	few  [12][]byte
	n    int
	many map[string]bool
}

// add adds a name and reports whether it is new.
func (s *names) add(name []byte) bool {
	for _, have := range s.few[:min(s.n, len(s.few))] {
		if string(have) == string(name) {
			return false
		}
	}
	if s.n < len(s.few) {
		s.few[s.n] = name
		s.n++
		return true
	}
	if s.many[string(name)] {
		return false
	}
	if s.many == nil {
		s.many = map[string]bool{}
	}
	s.many[string(name)] = true
	return true
}
