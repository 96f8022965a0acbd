package idform

import (
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// The beginnings of ids. What follows is 26 characters of base 32.
const (
	Task   = "task_"
	Memory = "mem_"
)

const taskLen = len(Task) + 26

// kinds says, by the letter of the number of a part of a task, what an id is the id of, and which calls take it.
var kinds = map[byte]struct{ what, hint string }{
	'h': {"a handoff", "[a handoff is accepted, rejected, confirmed, approved, denied or withdrawn](accept, reject, confirm, approve, deny, handoff withdraw) by its id; the id of its task is the part before the dot"},
	't': {"a takeover request", "[a takeover request is approved or denied](request approve, request deny) by its id; the id of its task is the part before the dot"},
	's': {"a shared envelope", "[the context of a shared envelope is read](share content) by its id; the id of its task is the part before the dot"},
	'k': {"a ticket", "[a ticket is answered, approved, denied, claimed or released](ticket answer, ticket approve, ticket deny, ticket claim, ticket release) by its id; the id of its task is the part before the dot"},
	'n': {"a notice", "a notice needs no answer; the id of [its task](task show) is the part before the dot"},
}

// IsTask reports whether a text has the form of the id of a task.
func IsTask(id string) bool {
	ok := len(id) == taskLen && strings.HasPrefix(id, Task)
	if ok {
		for _, c := range []byte(id[len(Task):]) {
			ok = ok && (c >= '0' && c <= '9' || c >= 'a' && c <= 'z')
		}
	}
	return ok
}

// ParsePart splits the id of a part of a task into the id of the task, the letter of the kind of part, and its number, which is at least 1.
func ParsePart(id string) (task string, letter byte, n int, ok bool) {
	task, part, _ := strings.Cut(id, ".")
	if len(part) < 2 || part[1] < '1' || part[1] > '9' || !IsTask(task) {
		return "", 0, 0, false
	}
	v, err := strconv.ParseUint(part[1:], 10, 31)
	return task, part[0], int(v), err == nil
}

// Refuse returns the refusal (invalid) of an id that is not what is wanted. If it is the id of something else, the refusal says of what, and which calls
// take it; otherwise it says what the wanted one looks like.
func Refuse(id, wanted, looks string) error {
	_, letter, _, isPart := ParsePart(id)
	of := kinds[letter]
	switch {
	case isPart && of.what != "":
	case IsTask(id):
		of.what, of.hint = "a task", looks
	case strings.HasPrefix(id, Memory) && IsTask(Task+strings.TrimPrefix(id, Memory)):
		of.what, of.hint = "a memory item", "[a memory item is read, revised, pinned or forgotten](memory get, memory revise, memory pin, memory forget) by its id"
	default:
		return refusal.New(refusal.Invalid, looks, "%.64q is not %s", id, wanted).With("field", "id")
	}
	return refusal.New(refusal.Invalid, of.hint, "%.64q is not %s: it is the id of %s", id, wanted, of.what).With("field", "id")
}
