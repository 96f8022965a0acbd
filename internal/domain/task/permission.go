package task

import (
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// CheckNewPermissions is [event.CheckNewLabels], and refuses none: readers are shown that for an empty list.
func CheckNewPermissions(what string, list []string, limit int) error {
	if slices.ContainsFunc(list, func(p string) bool { return strings.EqualFold(p, "none") }) {
		return refusal.New(refusal.Invalid, "for no permissions give an empty list (over MCP and on the command line: none, alone); for some, name only these", "%s cannot be named none", what)
	}
	return event.CheckNewLabels(what, list, limit)
}
