package event

import (
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Set is a closed set of texts: every value that a type may have. Its zero value has none.
type Set[T ~string] struct {
	noun   string
	values []T
}

// NewSet makes the closed set of a type. The noun is what one value is called in refusals, such as "a park cause".
func NewSet[T ~string](noun string, values ...T) Set[T] { return Set[T]{noun, values} }

// Values lists the set in its order. The caller owns the slice.
func (s Set[T]) Values() []T { return slices.Clone(s.values) }

// Has reports whether v is in the set.
func (s Set[T]) Has(v T) bool { return slices.Contains(s.values, v) }

// Index is the place of v in the set, from 0; -1 if it is not in it.
func (s Set[T]) Index(v T) int { return slices.Index(s.values, v) }

// Decode sets *v to a text, and refuses (invalid) one that is not in the set. The empty text is the zero value: "not given".
func (s Set[T]) Decode(v *T, text []byte) error {
	i := slices.IndexFunc(s.values, func(of T) bool { return string(of) == string(text) })
	switch {
	case i >= 0:
		*v = s.values[i]
	case len(text) == 0:
		*v = ""
	default:
		return refusal.New(refusal.Invalid, "use one of "+join(s.values, ", "), "%q is not %s", text, s.noun)
	}
	return nil
}

// OneOf is a list of values as a sentence has it: "a, b or c".
func OneOf[T ~string](values []T) string {
	last := len(values) - 1
	if last < 1 {
		return join(values, "")
	}
	return join(values[:last], ", ") + " or " + string(values[last])
}

func join[T ~string](values []T, sep string) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return strings.Join(texts, sep)
}
