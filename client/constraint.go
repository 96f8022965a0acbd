package client

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
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
func ConstraintKinds() []ConstraintKind {
	return []ConstraintKind{ConstraintBudget, ConstraintSecurity, ConstraintFormat, ConstraintPreference, ConstraintProhibition}
}

// Constraint is a rule for every owner of a task. It can be tightened, never loosened.
type Constraint struct {
	ID     string         `json:"id"`
	Kind   ConstraintKind `json:"kind"`
	Text   string         `json:"text"`
	Hard   bool           `json:"hard,omitempty"`
	Max    *float64       `json:"max,omitempty"`    // tighter is smaller
	Allow  []string       `json:"allow,omitzero"`   // tighter is a subset; nil: anything; empty: nothing
	Origin string         `json:"origin,omitempty"` // the principal that set it; the server fills it in, and all that follows

	// Who set a part, if not Origin.
	TextBy  string `json:"text_by,omitempty"`
	HardBy  string `json:"hard_by,omitempty"`
	MaxBy   string `json:"max_by,omitempty"`
	AllowBy string `json:"allow_by,omitempty"`

	Added     bool `json:"added,omitempty"`     // an agent added it that is not the requester: the other constraints win
	Inherited bool `json:"inherited,omitempty"` // it comes from the parent task
}

// ParseConstraint reads a constraint as people and agents write it: "KIND:TEXT", "KIND!:TEXT" for one that must hold, or
// "ID=KIND:TEXT". Without an id it gets one from its words, so that the same constraint twice is one. Whether there is such a
// kind is for the server to say.
func ParseConstraint(s string) (Constraint, error) {
	head, text, ok := strings.Cut(s, ":")
	if !ok || strings.TrimSpace(text) == "" {
		return Constraint{}, fmt.Errorf("a constraint is written KIND:TEXT, such as prohibition!:never push to main; %.200q is not", s)
	}
	var c Constraint
	if id, kind, ok := strings.Cut(head, "="); ok {
		c.ID, head = id, kind
	}
	head, c.Hard = strings.CutSuffix(head, "!")
	c.Kind, c.Text = ConstraintKind(head), strings.TrimSpace(text)
	if c.ID == "" {
		sum := sha256.Sum256([]byte(head + ":" + c.Text))
		c.ID = head + "-" + hex.EncodeToString(sum[:4])
	}
	return c, nil
}

// ParseConstraints reads several, as [ParseConstraint] does.
func ParseConstraints(list []string) (out []Constraint, err error) {
	for _, s := range list {
		c, err := ParseConstraint(s)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}
