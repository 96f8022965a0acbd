package event

import (
	"cmp"
	"strings"
)

// Bare is the name of a principal as answers show it: an agent goes by its bare name, and everybody else with the role, as in "operator/ann".
func Bare(principal string) string { return strings.TrimPrefix(principal, "agent/") }

// SourcePrincipal is the principal that the source of a handoff is: agents go without their role there.
func SourcePrincipal(source string) string {
	if source == "" || strings.Contains(source, "/") {
		return source
	}
	return "agent/" + source
}

// OnAccountOf is the principal on whose account the task was offered.
func (e Moved) OnAccountOf() string { return cmp.Or(e.Sender, SourcePrincipal(e.From)) }
