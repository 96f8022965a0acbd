package memory

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/domain/conversation/conversationid"
	"github.com/trapezehq/trapeze/internal/domain/erasure"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Limits of an item.
const (
	MaxText     = 256 << 10 // bytes of one version's text
	MaxTitle    = 200       // bytes
	MaxTags     = 32        // distinct tags, each a name of at most 64 characters
	MaxVersions = 1000
	MaxItem     = 4 << 20 // bytes of all versions together
	MinSalt     = 32      // hex digits
	MaxSalt     = 128
)

// CheckID refuses (invalid) what cannot be an item's id: ids are names as agents have them.
func CheckID(id string) error { return event.CheckName("memory id", id) }

// check refuses a command that breaks a rule on its own, and returns its tags in order.
func (c Remember) check() (tags []string, err error) {
	if err := CheckID(c.ID); err != nil {
		return nil, refusal.In("id", err)
	}
	if !Scopes.Has(c.Scope) {
		return nil, unknownScope(string(c.Scope))
	}
	if c.Scope == Task && c.Task == "" {
		return nil, refusal.New(refusal.Invalid, "name the task, or use another scope", "an item in scope task names no task")
	}
	if err := c.checkBelonging(); err != nil {
		return nil, err
	}
	if err := checkImportance(c.Importance); err != nil {
		return nil, err
	}
	if err := c.Content.check(); err != nil {
		return nil, err
	}
	if err := erasure.CheckName(c.Subject); err != nil {
		return nil, refusal.In("subject", err)
	}
	return normalTags(c.Tags)
}

// checkBelonging refuses ids that cannot be, and a task in which the author has no part.
func (c Remember) checkBelonging() error {
	for _, t := range []struct{ field, id string }{{"task", c.Task}, {"source.task", c.Source.Task}} {
		if t.id == "" {
			continue
		}
		if err := event.CheckTaskID(t.id); err != nil {
			return refusal.In(t.field, err)
		}
	}
	if c.Task != "" && !c.By.IsOperator() && !slices.Contains(c.By.Tasks, c.Task) {
		return refusal.New(refusal.NotFound, "name a task that you take part in", "you have no task %s", c.Task)
	}
	if c.Source.Handoff != "" {
		if _, _, err := event.ParseHandoffID(c.Source.Handoff); err != nil {
			return refusal.In("source.handoff", err)
		}
	}
	if c.Source.Agent != "" {
		if err := event.CheckAgent("source agent", c.Source.Agent); err != nil {
			return refusal.In("source.agent", err)
		}
	}
	if c.Conversation != "" {
		return refusal.In("conversation", conversationid.Check(c.Conversation))
	}
	return nil
}

func (c Content) check() error {
	switch {
	case len(c.Text) > MaxText:
		return refusal.New(refusal.TooLarge, fmt.Sprintf("an item has at most %d bytes (%d KiB): store the whole text as an artifact and a summary here, "+
			"or split it into items", MaxText, MaxText>>10), "the text has %d bytes", len(c.Text)).With("field", "text").With("limit", MaxText)
	case len(c.Title) > MaxTitle:
		return refusal.New(refusal.TooLarge, fmt.Sprintf("use at most %d bytes; put the rest in the text", MaxTitle),
			"the title has %d bytes", len(c.Title)).With("field", "title").With("limit", MaxTitle)
	case !utf8.ValidString(c.Text) || !utf8.ValidString(c.Title):
		return refusal.New(refusal.Invalid, "send UTF-8; [store other data as an artifact](artifact put)", "title or text is not valid UTF-8")
	case strings.TrimSpace(c.Text) == "":
		return refusal.New(refusal.Invalid, "say what is to be remembered", "the text is empty").With("field", "text")
	case strings.ContainsFunc(c.Title, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }):
		return refusal.New(refusal.Invalid, "use one line of plain text", "the title has a line end or another control character").With("field", "title")
	case len(c.Salt) < MinSalt || len(c.Salt) > MaxSalt || !lowerHex(c.Salt):
		return refusal.New(refusal.Invalid, "use fresh random bytes", "the salt is not %d to %d hex digits", MinSalt, MaxSalt)
	}
	return nil
}

func checkImportance(v float64) error {
	if v >= 0 && v <= 1 { // false for what is not a number
		return nil
	}
	return refusal.New(refusal.Invalid, "use 0 (trivial) to 1 (vital)", "an importance of %v is out of range", v).With("field", "importance")
}

// normalTags returns tags as a set: sorted, without repeats, sharing nothing with what was given; nil for none.
func normalTags(tags []string) ([]string, error) {
	if len(tags) > 2*MaxTags { // do not sort a list that is refused anyway
		return nil, tooManyTags(len(tags))
	}
	for _, t := range tags {
		if err := event.CheckName("tag", t); err != nil {
			return nil, refusal.In("tags", err)
		}
	}
	set := slices.Compact(slices.Sorted(slices.Values(tags)))
	if len(set) > MaxTags {
		return nil, tooManyTags(len(set))
	}
	return set, nil
}

func tooManyTags(n int) error {
	return refusal.New(refusal.Invalid, "use fewer", "%d tags, at most %d are allowed", n, MaxTags).With("field", "tags")
}
