package erasure

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/conversation/conversationid"
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
	Conversation Kind = "conversation" // one, by its id, or all of a name; with the memory items of it
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
		return Subject{}, refusal.New(refusal.Invalid, "use task/ID, tag/TAG, subject/NAME, conversation/ID, conversation/NAME or memory/ID", "%.80q names nothing that can be erased", text)
	}
	switch {
	case s.Kind == Tag:
		return s, event.CheckLabel("a tag", name)
	case s.Kind == Conversation:
		return s, conversationid.Check(name)
	case s.Kind == Named && name != "":
		return s, CheckName(name)
	}
	return s, event.CheckName("a "+kind, name)
}

// MaxName is the length of the name of a subject in bytes.
const MaxName = 128

// CheckName refuses (invalid) a text that cannot name what content is about, such as "patient/4711": labels as [event.CheckLabel] has them, in ASCII, with a slash
// between them. It may be left out.
func CheckName(name string) error {
	if name == "" {
		return nil
	}
	if len(name) > MaxName {
		return refusal.New(refusal.Invalid, fmt.Sprintf("use at most %d bytes", MaxName), "a subject has %d bytes", len(name))
	}
	for label := range strings.SplitSeq(name, "/") {
		if err := event.CheckLabel("a subject", label); err != nil {
			return refusal.New(refusal.Invalid, "name it like patient/4711: printable characters without spaces, quotes, \\, * or >, and a slash between its parts",
				"%s cannot name a subject", strconv.QuoteToASCII(refusal.Clip(name, MaxName)))
		}
	}
	return event.CheckPlain("a subject", name)
}
