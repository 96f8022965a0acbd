package idform

import (
	"slices"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// MaxPoint is the length of the id of a fact or decision, in bytes.
const MaxPoint = 64

// spoken are the words that name who speaks, or what is said of an author: an id that is one of them would read as such.
var spoken = []string{
	"by", "from", "why", "task", "pinned", "important", "vital", "replaces", "replaced", "operator", "operators", "admin",
	"requester", "sender", "receiver", "owner", "agent", "user", "human", "assistant", "system", "developer", "tool", "server", "trapeze", "all",
	"fenced", "left", "of", "earlier", "older",
}

// titles are other words that lines of prompts begin with: prompts have an id that is one of them in quotation marks.
var titles = []string{
	"note", "fact", "decision", "memory", "parts", "references", "turns", "texts", "facts", "decisions", "steps", "files", "questions",
	"state", "summary", "data", "detail", "notes", "reasoning", "step", "artifact", "conversation",
}

// IsPoint reports whether an id of a fact or decision stands in prompts as it is: it has the form that new ones have, and is no word that lines of prompts begin with.
func IsPoint(id string) bool { return FitsPoint(id) && !among(titles, id) }

// FitsPoint reports whether a new fact or decision can have an id: up to 64 ASCII letters, digits, '.', '_' and '-', first a letter or
// digit. It is not the id of something else, and no word that names who speaks.
func FitsPoint(id string) bool {
	letter := func(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' }
	if id == "" || len(id) > MaxPoint || !letter(id[0]) {
		return false
	}
	for i := range len(id) {
		if c := id[i]; !letter(c) && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	lower := strings.ToLower(id)
	return !strings.HasPrefix(lower, Task) && !strings.HasPrefix(lower, Memory) && !among(spoken, id)
}

// among reports whether an id reads as one of the words.
func among(words []string, id string) bool {
	return slices.Contains(words, strings.ToLower(strings.TrimRight(id, "._-")))
}

// CheckPoint refuses (invalid) an id of a fact or decision that is made now and is refused by [FitsPoint]. What the record has may be otherwise.
func CheckPoint(what, id string) error {
	if FitsPoint(id) {
		return nil
	}
	return refusal.New(refusal.Invalid, "use up to "+strconv.Itoa(MaxPoint)+" of a-z, A-Z, 0-9, '-', '_' and '.', starting with a letter or digit: no id of a task or of memory, "+
		"and no word such as by, operator or task; or omit the id", "%s cannot be the id of %s", strconv.QuoteToASCII(refusal.Clip(id, 2*MaxPoint)), what)
}
