package help

import (
	"reflect"
	"strings"
)

// kind is what an id is the id of.
type kind int

// The kinds. Ids of those up to item are told by their form; others are names, which only the refusal knows.
const (
	nothing kind = iota
	task
	handoff
	request
	share
	ticket
	item
	named
	words
	file
)

// placeholders are the words that stand for an id in a command.
var placeholders = [...]string{
	nothing: "", task: "TASK", handoff: "HANDOFF", request: "REQUEST", share: "SHARE", ticket: "TICKET", item: "ID", named: "NAME", words: "WORDS", file: "FILE",
}

// letters are those of the numbers of the parts of a task.
var letters = map[kind]byte{handoff: 'h', request: 't', share: 's', ticket: 'k'}

// The form of an id: a prefix and 26 letters and digits.
const taskPrefix, itemPrefix, randomLen = "task_", "mem_", 26

// of returns the first id of a kind among values: that of a task is also the beginning of that of its part.
func (k kind) of(about []any) string {
	for _, v := range about {
		r := reflect.ValueOf(v)
		if r.Kind() != reflect.String {
			continue
		}
		id := r.String()
		whole, part, isPart := strings.Cut(id, ".")
		switch {
		case k == item && hasForm(id, itemPrefix), k == task && hasForm(id, taskPrefix):
			return id
		case k == task && isPart && hasForm(whole, taskPrefix):
			return whole
		case letters[k] != 0 && hasForm(whole, taskPrefix) && len(part) > 1 && part[0] == letters[k] && strings.Trim(part[1:], "0123456789") == "":
			return id
		}
	}
	return ""
}

func hasForm(id, prefix string) bool {
	random, ok := strings.CutPrefix(id, prefix)
	return ok && len(random) == randomLen && strings.Trim(random, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}
