package event

import (
	"cmp"
	"strings"
)

// SourcePrincipal is the principal that the source of a handoff is: agents go without their role there.
func SourcePrincipal(source string) string {
	if source == "" || strings.Contains(source, "/") {
		return source
	}
	return "agent/" + source
}

// OnAccountOf is the principal on whose account the task was offered.
func (e Moved) OnAccountOf() string { return cmp.Or(e.Sender, SourcePrincipal(e.From)) }
