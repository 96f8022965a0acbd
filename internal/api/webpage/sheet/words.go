package sheet

import "strings"

// because are the reasons of an omission, as people read them.
var because = map[string]string{
	"budget": "over the budget of its receiver", "share": "over the budget, important beyond its author's share", "log": "a raw conversation that has a summary", "settled": "the reasoning of what is settled",
	"tool_call": "a tool call of the sender", "on_demand": "its receiver fetches it when needed",
	"bound": "more than an envelope holds, on the record", "cold": "the handoff is cold: no receiver gets what was given with it",
}

// Because is the reason of an omission, as people read it.
func Because(reason string) string {
	if words, ok := because[reason]; ok {
		return words
	}
	return strings.ReplaceAll(reason, "_", " ")
}
