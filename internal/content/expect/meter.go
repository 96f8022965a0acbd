package expect

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Bounds of a compiled schema.
const (
	maxParts    = 2000   // subschemas
	maxInPlace  = 64     // nested subschemas that apply to the same value
	maxPattern  = 5000   // instructions of one compiled pattern
	maxPatterns = 50_000 // of all patterns together
)

// errSpent ends a check that used up its steps. It is a panic that schema.apply recovers: the library has no other exit.
var errSpent = errors.New("the meter has run out")

// meter counts the steps of checking one result. Every subschema is charged before it reads a value.
type meter struct {
	left     int
	patterns int // instructions compiled so far
}

func (m *meter) charge(n int) {
	if m.left -= n; m.left < 0 {
		panic(errSpent)
	}
}

// pattern compiles regular expressions for the schema.
func (m *meter) pattern(s string) (jsonschema.Regexp, error) {
	tree, err := syntax.Parse(s, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	size := len(program.Inst)
	if m.patterns += size; size > maxPattern || m.patterns > maxPatterns {
		return nil, fmt.Errorf("pattern %.40q is too large", s)
	}
	re, err := regexp.Compile(s)
	if err != nil {
		return nil, err
	}
	return &pattern{re, size, m}, nil
}

// pattern is a regular expression that charges the meter for its input.
type pattern struct {
	re    *regexp.Regexp
	size  int
	meter *meter
}

// MatchString charges the worst case of RE2: every instruction for every character.
func (p *pattern) MatchString(s string) bool {
	p.meter.charge(1 + len(s)*p.size/16)
	return p.re.MatchString(s)
}

func (p *pattern) String() string { return p.re.String() }

// install walks the compiled schema, refuses endless recursion, and makes every subschema charge the meter. It does so in
// the format check, which the library runs before everything expensive.
func (m *meter) install(root *jsonschema.Schema) error {
	w := walk{heights: map[*jsonschema.Schema]int{}, forks: map[*jsonschema.Schema]int{}}
	queue := []*jsonschema.Schema{root}
	seen := map[*jsonschema.Schema]bool{root: true}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if err := w.check(s); err != nil {
			return err
		}
		for _, next := range append(inPlace(s), onMembers(s)...) {
			if !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		}
		if len(seen) > maxParts {
			return fmt.Errorf("has more than %d subschemas", maxParts)
		}
	}
	for s := range seen {
		m.meterPart(s, w.forksOf(s))
	}
	return nil
}

func (m *meter) meterPart(s *jsonschema.Schema, forks int) {
	inner := s.Format
	name := ""
	if inner != nil {
		name = inner.Name
	}
	p := priceOf(s, forks)
	s.Format = &jsonschema.Format{Name: name, Validate: func(v any) error {
		m.charge(p.of(v))
		switch {
		case inner == nil:
			return nil
		case name == "regex":
			return checkRegex(v)
		}
		return inner.Validate(v)
	}}
}

// price is the number of steps of a subschema for a value, including the first step of the subschemas inside it.
type price struct {
	here     int            // for any value
	each     int            // for each member
	property map[string]int // for the member of that name
	unique   bool           // the whole value is read once more
}

// maxForkPrice is the most steps that a branch costs before it is looked at.
const maxForkPrice = 4096

// priceOf is the price of a subschema. A branch of a fork is dearer the more forks are nested below it: they multiply, and each
// failure of each of them is an error that the library builds. So a schema of ten nested forks ends soon, and a list of
// alternatives, or a few nested ones, costs what it did.
func priceOf(s *jsonschema.Schema, forks int) price {
	p := price{here: 1 + len(s.Required), each: 1, unique: s.UniqueItems, property: map[string]int{}}
	branches := inPlace(s)
	for _, child := range branches {
		p.here += weight(child)
	}
	if len(branches) > 1 && forks > 1 {
		p.here += len(branches) * min(1<<(3*min(forks-1, 8)), maxForkPrice)
	}
	for _, child := range onAnyMember(s) {
		p.each += weight(child) - 1
	}
	for name, child := range s.Properties {
		p.property[name] = weight(child) - 1
	}
	return p
}

func (p price) of(v any) int {
	cost := p.here
	switch v := v.(type) {
	case string:
		cost += len(v) / 64
	case []any:
		cost += len(v) * p.each
		if p.unique {
			cost += sizeOf(v)
		}
	case map[string]any:
		cost += len(v) * p.each
		for name := range v {
			cost += p.property[name]
		}
	}
	return cost
}

func checkRegex(v any) error {
	if s, ok := v.(string); ok {
		_, err := (&meter{}).pattern(s)
		return err
	}
	return nil
}

// weight is the cost of the first step of a subschema: to compare the value with its constants.
func weight(s *jsonschema.Schema) int {
	n := 0
	if s.Const != nil {
		n += sizeOf(*s.Const)
	}
	if s.Enum != nil {
		n += sizeOf(s.Enum.Values)
	}
	return 1 + n/16
}

// sizeOf is the number of values in v, plus one for each 64 bytes of text.
func sizeOf(v any) int {
	n := 1
	switch v := v.(type) {
	case string:
		n += len(v) / 64
	case []any:
		for _, e := range v {
			n += sizeOf(e)
		}
	case map[string]any:
		for k, e := range v {
			n += len(k)/64 + sizeOf(e)
		}
	}
	return n
}
