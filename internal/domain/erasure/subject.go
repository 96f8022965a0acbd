package erasure

import (
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Kind says what a subject names.
type Kind string

// The kinds of subjects.
const (
	Task         Kind = "task"         // with its descendants, and what was remembered in their course
	Tag          Kind = "tag"          // every task with the tag, as above
	Named        Kind = "subject"      // every task, conversation and memory item that was made with the subject, such as patient/4711
	Conversation Kind = "conversation" // with the memory items of it
	Memory       Kind = "memory"       // one item
)

// Kinds lists every kind of subject.
func Kinds() []Kind { return []Kind{Task, Tag, Named, Conversation, Memory} }

// Subject names what is erased or held.
type Subject struct {
	Kind Kind
	Name string // an id, a tag, or the name of a subject
}

func (s Subject) String() string { return string(s.Kind) + "/" + s.Name }

// ParseSubject reads "kind/name". The ids of tasks and memory items need no kind.
func ParseSubject(text string) (Subject, error) {
	kind, name, ok := strings.Cut(text, "/")
	switch {
	case !ok && strings.HasPrefix(text, "task_"):
		kind, name = string(Task), text
	case !ok && strings.HasPrefix(text, "mem_"):
		kind, name = string(Memory), text
	}
	s := Subject{Kind(kind), name}
	if !slices.Contains(Kinds(), s.Kind) {
		return Subject{}, refusal.New(refusal.Invalid, "use task/ID, tag/TAG, subject/NAME, conversation/ID or memory/ID", "%.80q names nothing that can be erased", text)
	}
	switch {
	case s.Kind == Tag:
		return s, event.CheckLabel("a tag", name)
	case s.Kind == Named && name != "":
		return s, event.CheckSubject(name)
	}
	return s, event.CheckName("a "+kind, name)
}
