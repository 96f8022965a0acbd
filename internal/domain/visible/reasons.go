package visible

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Reasons are names, each with its reason, in their order and on one line; empty if there are none.
func Reasons(why map[string]string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(why)) {
		all = append(all, name+": "+why[name])
	}
	return strings.Join(all, "; ")
}

// Counts are names, each with its number, in their order and on one line; empty if there are none.
func Counts(of map[string]int) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		all = append(all, fmt.Sprintf("%s ×%d", name, of[name]))
	}
	return strings.Join(all, ", ")
}

// maxUnresolved is how many references [Unresolved] names.
const maxUnresolved = 10

// Unresolved are references, each with the reason why it is missing, in their order and after a space in parentheses; empty if there are none.
func Unresolved(why map[string]string) string {
	var all []string
	for i, id := range slices.Sorted(maps.Keys(why)) {
		if i == maxUnresolved {
			all = append(all, fmt.Sprintf("and %d more", len(why)-i))
			break
		}
		all = append(all, id+": "+strings.ReplaceAll(why[id], "_", " "))
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, ", ") + ")"
}
