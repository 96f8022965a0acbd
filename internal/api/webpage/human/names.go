package human

import "strings"

// Names are the beginnings of the requests of tasks, by id: a list of ids is read by nobody.
type Names map[string]string

// In is a text with names in the place of ids.
func (n Names) In(text string) string {
	for id := range n {
		text = strings.ReplaceAll(text, id, n.Of(id))
	}
	return text
}

// Of is the name of a task, a handoff or a ticket: the beginning of the task's request and, of a part of it, which one. Of a task that has none here, it is the id.
func (n Names) Of(id string) string {
	task, part, _ := strings.Cut(strings.TrimPrefix(id, "task/"), ".") // as legal holds have it
	request, ok := n[task]
	if !ok {
		return id
	}
	name := Short(60, request)
	for letter, kind := range map[string]string{"h": "handoff", "k": "ticket"} {
		if number, ok := strings.CutPrefix(part, letter); ok {
			name += ", " + kind + " " + number
		}
	}
	return name
}
