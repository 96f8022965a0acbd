package argument

import (
	"regexp"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/client"
)

// forbids matches the beginning of a text that says what must not be done.
var forbids = regexp.MustCompile(`(?i)^(never|no|not|don['’]t|do not|must not|avoid)\b`)

// Constraints reads constraints as [client.ParseConstraints] does. One without a kind is a prohibition if its first words forbid
// something, and else a preference. A single word before a colon that is no kind is refused: it may be a kind that is misspelled.
func Constraints(list []string) ([]client.Constraint, error) {
	out := slices.Clone(list)
	for i, s := range out {
		head, _, colon := strings.Cut(s, ":")
		if text := strings.TrimSpace(s); text == "" || colon && !strings.ContainsAny(strings.TrimSpace(head), " \t\n") {
			continue
		}
		kind := client.ConstraintPreference
		if forbids.MatchString(strings.TrimSpace(s)) {
			kind = client.ConstraintProhibition
		}
		out[i] = string(kind) + ":" + s
	}
	return client.ParseConstraints(out)
}
