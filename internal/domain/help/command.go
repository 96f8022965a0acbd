package help

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// flags are the flags of commands for fields of the API that have another name there, and examples the words that stand for a value.
var (
	flags = map[string]string{
		"budget.tokens": "budget-tokens", "budget.cost_micros": "budget-cost", "cost_micros": "cost", "capabilities": "capability", "dependencies": "after", "task budget budget.tokens": "tokens", "task budget budget.cost_micros": "cost",
	}
	examples = map[string]string{"epoch": "N", "task": "TASK", "why": "WHY", "context_window": "N", "tokens": "N"}
)

// Command returns the command line of a shell that does it, with words in capitals for what the refusal does not know; "" if there is none. What only a
// field helps with has the flag alone.
func (h Help) Command() string {
	fields := h.flags()
	switch h.Call {
	case ActAs:
		return "--agent " + shellword.Quote(cmp.Or(h.ID, "NAME"))
	case Describe:
		return "--help"
	case "":
		return strings.TrimPrefix(fields, " ")
	}
	f := calls[h.Call]
	line := "trapeze " + cmp.Or(f.command, string(h.Call))
	if f.after != "" {
		fields = " " + f.after + fields
	}
	id := h.Subject()
	switch {
	case id == "":
		return line + fields
	case strings.HasPrefix(id, "-"):
		return shellword.Command(line+fields, id)
	}
	return shellword.Command(line, id) + fields
}

// Subject returns the id that the call takes, or the word for it; "" if it takes none.
func (h Help) Subject() string { return cmp.Or(h.ID, placeholders[calls[h.Call].takes]) }

// flags returns the fields as flags.
func (h Help) flags() (text string) {
	for _, name := range slices.Sorted(maps.Keys(h.Fields)) {
		text += " --" + cmp.Or(flags[string(h.Call)+" "+name], flags[name], strings.ReplaceAll(name, "_", "-"))
		if value := h.Fields[name]; value != "true" {
			text += " " + shellword.Quote(cmp.Or(value, examples[name], "NAME"))
		}
	}
	return text
}
