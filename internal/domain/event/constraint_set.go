package event

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/trapezehq/trapeze/internal/domain/event/idform"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// The limits of what agents that are not the requester add to the constraints of a task, so that none of them can make the task too large for its receivers. What agents
// added to its parent counts too. Bytes and tokens are those of ids, texts, limits and setters, and addedFrame tokens for each constraint.
const (
	MaxAdded       = 16      // constraints
	MaxAddedText   = 400     // bytes
	MaxAddedTotal  = 2 << 10 // bytes
	MaxAddedTokens = 300
	addedFrame     = 12 // tokens of brackets, kind and words in the prompt
)

// maxima is the range of the maximum of each kind.
var maxima = map[ConstraintKind]struct{ least, most float64 }{
	ConstraintBudget:      {0, 1e15},
	ConstraintSecurity:    {0, 1e15},
	ConstraintFormat:      {0, 1e15},
	ConstraintProhibition: {0, 1e15},
	ConstraintPreference:  {-1e15, 1e15}, // a temperature may be below zero
}

// Range is the range of the maximum of a new constraint of the kind.
func (k ConstraintKind) Range() (least, most float64) { return maxima[k].least, maxima[k].most }

// NotAllowed are the printable characters that no new allowed value has, beside those that no label has: the prompt uses them around allowed values.
const NotAllowed = "()[]{}<>,;`|"

// CheckNew refuses a constraint that cannot be set now: what [Constraint.Check] and [Constraint.CheckUnset] refuse, and (invalid) an id that is not plain; line breaks, control
// characters and invisible ones in text and allowed values, and punctuation in the latter that the prompt uses around them; a text of which nothing can be seen; and a
// maximum out of the range of the kind. Constraints of the record may be otherwise.
func (c Constraint) CheckNew() error {
	if err := cmp.Or(c.Check(), c.CheckUnset()); err != nil {
		return err
	}
	if err := CheckConstraintID(c.ID); err != nil {
		return refusal.In("id", err)
	}
	if r, bad := notOneLine(c.Text); bad {
		return refusal.New(refusal.Invalid, "write it on one line, without control or invisible characters; a second rule is a constraint of its own",
			"the text of constraint %s has the character %U", c.ID, r).With("field", "text")
	}
	if !strings.ContainsFunc(c.Text, func(r rune) bool { return !unicode.IsSpace(r) && !idform.Invisible(r) }) {
		return refusal.New(refusal.Invalid, "write what must hold as its text", "nothing can be seen of the text of constraint %s", c.ID).With("field", "text")
	}
	return c.CheckLimits(Constraint{})
}

// CheckUnset refuses (invalid) fields that the server alone sets: who set which part of a constraint, and how it binds.
func (c Constraint) CheckUnset() error {
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"origin", c.Origin != ""},
		{"text_by", c.TextBy != ""},
		{"hard_by", c.HardBy != ""},
		{"max_by", c.MaxBy != ""},
		{"allow_by", c.AllowBy != ""},
		{"added", c.Added},
		{"inherited", c.Inherited},
	} {
		if f.set {
			return refusal.New(refusal.Invalid, "omit it: the server sets it, from who calls", "%s cannot be given with a constraint", f.name).With("field", f.name)
		}
	}
	return nil
}

// CheckLimits refuses (invalid) limits that old does not have and that cannot be set now: a maximum out of the range of the kind,
// and allowed values with characters that cannot be seen, or that the prompt uses around them.
func (c Constraint) CheckLimits(old Constraint) error {
	if r, ok := maxima[c.Kind]; ok && c.Max != nil && (old.Max == nil || *c.Max != *old.Max) && (*c.Max < r.least || *c.Max > r.most) {
		return refusal.New(refusal.Invalid, fmt.Sprintf("use %g to %g, or omit it", r.least, r.most), "a %s constraint cannot have the maximum %g", c.Kind, *c.Max).With("field", "max")
	}
	for _, a := range c.Allow {
		if _, bad := notOneLine(a); (bad || strings.ContainsAny(a, NotAllowed)) && !slices.Contains(old.Allow, a) {
			return refusal.New(refusal.Invalid, "use letters, digits and - _ . : + # @ = in allowed values",
				"%s cannot be an allowed value of constraint %s", strconv.QuoteToASCII(a), c.ID).With("field", "allow")
		}
	}
	return nil
}

// CheckConstraintID refuses (invalid) an id that a new constraint cannot have: it has 1 to 64 letters a-z or A-Z, digits and
// - _ . :, and begins with a letter or digit. So no letter of another script poses as one of these;
// what looks alike in ASCII is refused by [CheckDistinct].
func CheckConstraintID(id string) error {
	plain := func(r rune) bool {
		return r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.:", r))
	}
	if id == "" || len(id) > MaxName || strings.ContainsRune("-_.:", rune(id[0])) || strings.ContainsFunc(id, func(r rune) bool { return !plain(r) }) {
		return refusal.New(refusal.Invalid, "use 1 to 64 of a-z, A-Z, 0-9, '-', '_', '.' and ':', starting with a letter or digit",
			"%s cannot be the id of a constraint", strconv.QuoteToASCII(refusal.Clip(id, 2*MaxName)))
	}
	return nil
}

// CheckDistinct refuses (conflict) the id of a new constraint that looks like that of another one.
func CheckDistinct(id string, others []Constraint) error {
	for _, o := range others {
		if o.ID != id && idform.Skeleton(o.ID) == idform.Skeleton(id) {
			return refusal.New(refusal.Conflict, "[tighten that one](task constrain) under its own id, or choose an id that cannot be taken for it",
				"the id %s looks like %s, which another constraint has", id, strconv.QuoteToASCII(o.ID))
		}
	}
	return nil
}

// CheckNewConstraints is [CheckConstraints] for constraints all of which are set now: see [Constraint.CheckNew].
func CheckNewConstraints(cs []Constraint) error {
	for i, c := range cs {
		if err := c.CheckNew(); err != nil {
			return err
		}
		if err := CheckDistinct(c.ID, cs[:i]); err != nil {
			return err
		}
	}
	return CheckConstraints(cs)
}

// CheckAdded refuses (too_large, limit) what agents would have added to a task after a change, if it is too much and more than
// before. count gives the tokens of a text; nil counts bytes.
func CheckAdded(before, after []Constraint, count func(string) int) error {
	for _, k := range after {
		isNew := !slices.ContainsFunc(before, func(o Constraint) bool { return o.ID == k.ID })
		if isNew && len(k.Text) > MaxAddedText {
			return refusal.New(refusal.TooLarge, fmt.Sprintf("say it in at most %d bytes, or have the requester or an operator set it", MaxAddedText),
				"an agent's constraint with %d bytes of text is too long", len(k.Text))
		}
	}
	if count == nil {
		count = func(s string) int { return len(s) }
	}
	size, tokens := addedSize(after, count)
	oldSize, oldTokens := addedSize(before, count)
	n := len(after)
	if n > MaxAdded && n > len(before) || size > MaxAddedTotal && size > oldSize || tokens > MaxAddedTokens && tokens > oldTokens {
		return refusal.New(refusal.Limit,
			"[lift one](task lift) that you set, shorten this one, or ask the requester or an operator to lift others or to set it themselves",
			"what agents added would be %d constraints with %d bytes and %d tokens; a task has room for %d, %d and %d", n, size, tokens, MaxAdded, MaxAddedTotal, MaxAddedTokens)
	}
	return nil
}

// addedSize is the bytes and tokens of all that a receiver reads of constraints.
func addedSize(cs []Constraint, count func(string) int) (size, tokens int) {
	for _, k := range cs {
		parts := append([]string{k.ID, k.Text}, k.Allow...)
		if k.Max != nil {
			parts = append(parts, strconv.FormatFloat(*k.Max, 'g', -1, 64))
		}
		for _, by := range []string{k.Origin, k.TextBy, k.HardBy, k.MaxBy, k.AllowBy} {
			if by != "" {
				parts = append(parts, by)
			}
		}
		all := strings.Join(parts, " ")
		size, tokens = size+len(all), tokens+count(all)+addedFrame
	}
	return size, tokens
}

// MayTighten refuses what a principal may not make of old, a constraint with the same id: to loosen or reword it (conflict), to give
// the constraint of another a kind of limit that it does not have, unless as an operator (not_permitted), and limits that cannot
// be set now (invalid). What stays as it is may be older than the bounds of new constraints.
func (c Constraint) MayTighten(old Constraint, by string, operator bool) error {
	if err := cmp.Or(c.Check(), c.CheckUnset()); err != nil {
		return err
	}
	if !c.Tightens(old) {
		hint := "only tighten it, or have " + Bare(old.Origin) + " or an operator lift it"
		if old.Origin == by {
			hint = "only tighten it, or lift it and set it again"
		}
		return refusal.New(refusal.Conflict, hint, "constraint %s cannot be loosened or reworded: %s", c.ID, c.loosened(old))
	}
	if what := c.notUsed(old); what != "" && old.Origin != by && !operator {
		return refusal.New(refusal.NotPermitted, "[set a constraint of your own](task constrain), under another id, with that limit; it binds as well, in your name",
			"%s set constraint %s without %s, so %s cannot give it one", Bare(old.Origin), c.ID, what, Bare(by))
	}
	return c.CheckLimits(old)
}

// notUsed is the name of a kind of limit that c has and old does not; empty if there is none.
func (c Constraint) notUsed(old Constraint) string {
	switch {
	case c.Max != nil && old.Max == nil:
		return "max"
	case c.Allow != nil && old.Allow == nil:
		return "allow"
	case c.Hard && !old.Hard:
		return "hard"
	}
	return ""
}

// SetBy is c as a principal sets it.
func (c Constraint) SetBy(by string, added bool) Constraint {
	c.Origin, c.Added, c.Inherited = by, added, false
	c.TextBy, c.HardBy, c.MaxBy, c.AllowBy = "", "", "", ""
	return c
}

// TightenedBy is c, which tightens old, with the setter of each part: by for those that differ. An operator who tightens makes
// the constraint the operator's, so that its first setter cannot lift it; all others leave it to its setter.
func (c Constraint) TightenedBy(old Constraint, by string, operator bool) Constraint {
	c.Added, c.Inherited, c.Origin = old.Added, old.Inherited, old.Origin
	if operator {
		c.Added, c.Origin = false, by
	}
	set := func(was string, changed bool) string {
		who := cmp.Or(was, old.Origin)
		if changed {
			who = by
		}
		if who == c.Origin {
			return ""
		}
		return who
	}
	if len(c.Allow) == len(old.Allow) && old.Allow != nil { // c tightens old: the same values in another order
		c.Allow = old.Allow
	}
	c.TextBy = set(old.TextBy, false)
	c.HardBy, c.MaxBy, c.AllowBy = "", "", ""
	if c.Hard {
		c.HardBy = set(old.HardBy, !old.Hard)
	}
	if c.Max != nil {
		c.MaxBy = set(old.MaxBy, old.Max == nil || *c.Max != *old.Max)
	}
	if c.Allow != nil {
		c.AllowBy = set(old.AllowBy, old.Allow == nil || !slices.Equal(c.Allow, old.Allow))
	}
	return c
}

// OneLine is a text as a constraint can have it: line breaks are spaces, and control and invisible characters are gone.
func OneLine(s string) string {
	for r, bad := notOneLine(s); bad; r, bad = notOneLine(s) {
		with := ""
		if unicode.IsSpace(r) {
			with = " "
		}
		s = strings.ReplaceAll(s, string(r), with)
	}
	return strings.TrimSpace(s)
}

// notOneLine is the first character of a text that ends a line, controls, or cannot be seen. The joiners of Persian, Hindi and
// emoji, and the selectors of emoji, change what is seen, and are fine.
func notOneLine(s string) (rune, bool) {
	for _, r := range s {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || idform.Invisible(r) && r != '\u200c' && r != '\u200d' && r != '\ufe0e' && r != '\ufe0f' {
			return r, true
		}
	}
	return 0, false
}
