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

// maxMissing is how many entries [Unresolved] and [Replaced] name.
const maxMissing = 10

// replaced is the reason of what is missing because the content that it was given in has another in its place. It is no reference.
const replaced = "replaced"

// Unresolved are references, each with the reason why it is missing, in their order and after a space in parentheses; empty if there are none.
func Unresolved(why map[string]string) string {
	list := missing(why, false, func(id string) string { return id + ": " + strings.ReplaceAll(why[id], "_", " ") })
	if list == "" {
		return ""
	}
	return " (" + list + ")"
}

// Replaced are the facts and decisions that are missing because the content that they were given in replaces them, in their order; empty if there are none.
func Replaced(why map[string]string) string {
	return missing(why, true, func(id string) string { return id })
}

// missing are the first of the ids that are missing for one of both causes, as say puts it.
func missing(why map[string]string, isReplaced bool, say func(id string) string) string {
	var all []string
	more := 0
	for _, id := range slices.Sorted(maps.Keys(why)) {
		switch {
		case (why[id] == replaced) != isReplaced:
		case len(all) == maxMissing:
			more++
		default:
			all = append(all, say(id))
		}
	}
	if more > 0 {
		all = append(all, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, ", ")
}
