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
