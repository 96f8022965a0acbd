package event

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// ConstraintKind says what a constraint is about.
type ConstraintKind string

// The kinds of constraint.
const (
	ConstraintBudget      ConstraintKind = "budget"
	ConstraintSecurity    ConstraintKind = "security"
	ConstraintFormat      ConstraintKind = "format"
	ConstraintPreference  ConstraintKind = "preference"
	ConstraintProhibition ConstraintKind = "prohibition"
)

// ConstraintKinds lists every kind of constraint.
var ConstraintKinds = NewSet("a constraint kind",
	ConstraintBudget, ConstraintSecurity, ConstraintFormat, ConstraintPreference, ConstraintProhibition,
)

func (k *ConstraintKind) UnmarshalText(b []byte) error { return ConstraintKinds.Decode(k, b) }

// The limits of constraints.
const (
	MaxConstraints     = 64       // per task
	MaxConstraintText  = 2 << 10  // bytes
	MaxConstraintTotal = 32 << 10 // bytes of text and allowed values, per task
)

// Constraint is a rule for every owner of a task. It can be tightened, never loosened.
type Constraint struct {
	ID     string         `json:"id"` // a label, see [CheckLabel]; of a new one: see [CheckConstraintID]
	Kind   ConstraintKind `json:"kind"`
	Text   string         `json:"text"`
	Hard   bool           `json:"hard,omitempty"`   // it must hold, and not only where possible
	Max    *float64       `json:"max,omitempty"`    // tighter is smaller
	Allow  []string       `json:"allow,omitzero"`   // tighter is a subset; absent: anything; empty: nothing
	Origin string         `json:"origin,omitempty"` // the principal that set it; the server sets it, and all that follows: see [Constraint.CheckUnset]

	// Who set a part, if not Origin.
	TextBy  string `json:"text_by,omitempty"`
	HardBy  string `json:"hard_by,omitempty"`
	MaxBy   string `json:"max_by,omitempty"`
	AllowBy string `json:"allow_by,omitempty"`

	Added     bool `json:"added,omitempty"`     // an agent added it that is not the requester: the other constraints win
	Inherited bool `json:"inherited,omitempty"` // it comes from the parent task
}

// Check refuses a constraint without id, kind or text (invalid), and one that is too long (too_large). It runs over constraints
// of the record too, so it must not refuse what was once accepted; what a new one must keep to is in [Constraint.CheckNew].
func (c Constraint) Check() error {
	if err := CheckLabel("a constraint", c.ID); err != nil {
		return refusal.In("id", err)
	}
	if c.Kind == "" {
		return refusal.New(refusal.Invalid, "use "+OneOf(ConstraintKinds.Values()), "constraint %s has no kind", c.ID)
	}
	if strings.TrimSpace(c.Text) == "" {
		return refusal.New(refusal.Invalid, "write what must hold as its text", "constraint %s has no text", c.ID).With("field", "text")
	}
	if c.Max != nil && (math.IsNaN(*c.Max) || math.IsInf(*c.Max, 0)) {
		return refusal.New(refusal.Invalid, "use a number, or omit it", "constraint %s has no finite maximum", c.ID).With("field", "max")
	}
	if len(c.Allow) > 0 {
		if err := CheckLabels("an allowed value", c.Allow, MaxPermissions); err != nil {
			return refusal.In("allow", err)
		}
	}
	return refusal.In("text", CheckText("a constraint", c.Text, MaxConstraintText))
}

// CheckConstraints refuses the constraints of a task that are too large to go into every envelope, or of which two have one id.
func CheckConstraints(cs []Constraint) error {
	total := 0
	for i, c := range cs {
		if err := c.Check(); err != nil {
			return err
		}
		if slices.ContainsFunc(cs[:i], func(o Constraint) bool { return o.ID == c.ID }) {
			return refusal.New(refusal.Invalid, "give each constraint an id of its own", "there are two constraints %s", c.ID)
		}
		total += len(c.Text)
		for _, a := range c.Allow {
			total += len(a)
		}
	}
	if len(cs) > MaxConstraints || total > MaxConstraintTotal {
		return refusal.New(refusal.TooLarge, fmt.Sprintf("at most %d with %d bytes of text and allowed values per task", MaxConstraints, MaxConstraintTotal),
			"%d constraints with %d bytes are too many", len(cs), total)
	}
	return nil
}

// Tightens reports whether c, with the same id as old, asks for at least as much: it has the same kind and text, a maximum that
// is not larger, no additional allowed value, and is hard if old is.
func (c Constraint) Tightens(old Constraint) bool { return c.loosened(old) == "" }

// loosened says what old has, if c loosens or rewords it; empty if it does neither.
func (c Constraint) loosened(old Constraint) string {
	switch {
	case c.Kind != old.Kind || c.Text != old.Text:
		return fmt.Sprintf("it is %s: %.80q", old.Kind, old.Text)
	case old.Hard && !c.Hard, old.Max != nil && (c.Max == nil || *c.Max > *old.Max), old.Allow != nil && (c.Allow == nil || slices.ContainsFunc(c.Allow, func(a string) bool { return !slices.Contains(old.Allow, a) })):
		return "its limits are " + old.Limits()
	}
	return ""
}

// Limits describes what the constraint limits, for example "must hold, at most 5, only de en".
func (c Constraint) Limits() string {
	var limits []string
	if c.Hard {
		limits = append(limits, "must hold")
	}
	if c.Max != nil {
		limits = append(limits, "at most "+strconv.FormatFloat(*c.Max, 'f', -1, 64))
	}
	switch {
	case c.Allow == nil:
	case len(c.Allow) == 0:
		limits = append(limits, "only: nothing is allowed")
	default:
		limits = append(limits, "only "+strings.Join(c.Allow, " "))
	}
	if limits == nil {
		return "no limits"
	}
	return strings.Join(limits, ", ")
}

// Equal compares the fields that can be tightened.
func (c Constraint) Equal(o Constraint) bool {
	return c.Hard == o.Hard && (c.Allow == nil) == (o.Allow == nil) && slices.Equal(c.Allow, o.Allow) &&
		(c.Max == nil) == (o.Max == nil) && (c.Max == nil || *c.Max == *o.Max)
}

// InheritsFrom reports whether c is what a child task inherited of k, a constraint of its parent that was lifted, and is lifted with it.
// A rule of the requester or an operator that was tightened further in the child stays.
func (c Constraint) InheritsFrom(k Constraint) bool {
	root := func(id string) string {
		for strings.HasPrefix(id, inheritedPrefix) {
			id = id[len(inheritedPrefix):]
		}
		return id
	}
	setter := c.Origin == k.Origin || k.TextBy != "" && c.Origin == k.TextBy // an operator tightened k since
	same := c.Kind == k.Kind && c.Text == k.Text && root(c.ID) == root(k.ID)
	return c.Inherited && setter && same && (c.Added || k.Tightens(c))
}

// firstSetter is the principal that set the constraint before operators tightened it.
func (c Constraint) firstSetter() string { return cmp.Or(c.TextBy, c.Origin) }

// Follows reports whether c, which a child task inherited of k, a constraint of its parent, follows a change of k.
func (c Constraint) Follows(k Constraint) bool {
	if c.firstSetter() == k.firstSetter() {
		c.Origin = k.Origin
	}
	return c.InheritsFrom(k)
}

// inheritedPrefix begins the id of a constraint of a parent task where another has its own id.
const inheritedPrefix = "parent."

// InheritedBy is the id under which c, a constraint of a parent task, binds a child task that has others: its own id, or one
// with the prefix "parent." if another constraint has that id and would hide it. It is "" if the child has c, as tight or tighter.
func (c Constraint) InheritedBy(others []Constraint) string {
	for id := c.ID; ; id = inheritedPrefix + id {
		i := slices.IndexFunc(others, func(o Constraint) bool { return o.ID == id })
		if i < 0 {
			return id
		}
		o := others[i]
		switch same := o.Origin == c.Origin || o.Inherited && o.firstSetter() == c.firstSetter(); { // operators tightened it in the parent
		case same && c.Tightens(o):
			return id
		case same && o.Tightens(c):
			return ""
		}
	}
}
