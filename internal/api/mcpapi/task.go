package mcpapi

import "strings"

// taskOf returns the id of the task that an id of a handoff, ticket or share belongs to.
func taskOf(id string) string {
	task, _, _ := strings.Cut(id, ".")
	return task
}
