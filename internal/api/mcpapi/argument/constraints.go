package argument

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/client"
)

// forbids matches the beginning of a text that says what must not be done.
var forbids = regexp.MustCompile(`(?i)^(never|no|not|don['’]t|do not|must not|avoid|prohibited|forbidden)\b`)

// Constraints reads constraints as [client.ParseConstraints] does, with kinds in any case. One without a kind is a prohibition if its first words
// forbid something, and else a preference; its text may have a colon. A kind that is misspelled is refused.
func Constraints(list []string) ([]client.Constraint, error) {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = constraint(strings.TrimSpace(s))
	}
	all, err := client.ParseConstraints(out)
	for _, c := range all {
		if !slices.Contains(client.ConstraintKinds(), c.Kind) {
			return nil, fmt.Errorf("%.40q is not a kind of constraint: write KIND:TEXT, with one of the kinds %s", c.Kind, strings.Join(texts(client.ConstraintKinds()), ", "))
		}
	}
	return all, err
}

// constraint returns a constraint with its kind.
func constraint(s string) string {
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
		return string(client.ConstraintProhibition) + ":" + s
	}
	return string(client.ConstraintPreference) + ":" + s
}

// kindLike reports whether a word is a kind of constraint, or differs from one in at most two letters that stand together.
func kindLike(word string) bool {
	return slices.ContainsFunc(texts(client.ConstraintKinds()), func(kind string) bool {
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
