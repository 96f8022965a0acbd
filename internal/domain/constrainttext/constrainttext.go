package constrainttext

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// forbids matches the beginning of a text that says what must not be done.
var forbids = regexp.MustCompile(`(?i)^(never|no|not|don['’]t|do not|must not|avoid|prohibited|forbidden)\b`)

// WithKinds gives each constraint of a list its kind, in lower case: KIND:TEXT, KIND!:TEXT or ID=KIND:TEXT. One without a kind is a prohibition if its first
// words forbid something, and else a preference; its text may have a colon. A kind that is misspelled is refused.
func WithKinds(list []string) ([]string, error) {
	out := make([]string, len(list))
	for i, s := range list {
		if s = strings.TrimSpace(s); strings.HasPrefix(s, "{") && json.Valid([]byte(s)) {
			return nil, fmt.Errorf("a constraint is a text and no JSON object: write KIND:TEXT, with one of the kinds %s", kinds())
		}
		out[i] = withKind(s)
		head, _, colon := strings.Cut(out[i], ":")
		kind := strings.TrimSuffix(head[strings.Index(head, "=")+1:], "!")
		if colon && !slices.Contains(event.ConstraintKinds.Values(), event.ConstraintKind(kind)) {
			return nil, fmt.Errorf("%.40q is not a kind of constraint: write KIND:TEXT, with one of the kinds %s", kind, kinds())
		}
	}
	return out, nil
}

// kinds are the kinds of constraint, in one line.
func kinds() string {
	var all []string
	for _, k := range event.ConstraintKinds.Values() {
		all = append(all, string(k))
	}
	return strings.Join(all, ", ")
}

// withKind returns a constraint with its kind.
func withKind(s string) string {
	head, text, colon := strings.Cut(s, ":")
	id, kind, named := strings.Cut(head, "=")
	if !named {
		id, kind = "", head
	}
	word, hard := strings.CutSuffix(strings.TrimSpace(kind), "!")
	word = strings.ToLower(word)
	switch {
	case s == "":
		return s
	case colon && !strings.ContainsAny(word, " \t\n") && (named || hard || kindLike(word)):
		if named {
			id += "="
		}
		if hard {
			word += "!"
		}
		return id + word + ":" + text
	case forbids.MatchString(s):
		return string(event.ConstraintProhibition) + ":" + s
	}
	return string(event.ConstraintPreference) + ":" + s
}

// kindLike reports whether a word is a kind of constraint, or differs from one in at most two letters that stand together.
func kindLike(word string) bool {
	return slices.ContainsFunc(event.ConstraintKinds.Values(), func(k event.ConstraintKind) bool {
		kind := string(k)
		most, same := max(len(word), len(kind)), 0
		rest := min(len(word), len(kind))
		for same < rest && word[same] == kind[same] {
			same++
		}
		for end := 1; same < rest && word[len(word)-end] == kind[len(kind)-end]; end++ {
			same++
		}
		return same >= most-2
	})
}
