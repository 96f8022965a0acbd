package event

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/domain/event/idform"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// The limits of names and labels, and of lists of them.
const (
	MaxName        = 64  // bytes
	MaxPermissions = 128 // per task
	MaxTags        = 32  // per task
)

const nameHint = "use 1 to 64 of a-z, 0-9, '-', '_' and '.', starting with a letter or digit"

// CheckName refuses (invalid) a text that cannot name an agent, a capability, a channel, a tokenizer, a workspace
// or a principal: a name has 1 to 64 characters of a-z, 0-9, '-', '_' and '.', and starts with a letter or digit. Such a
// name is safe in streams, URLs, file names and prompts. What says in the message which name is meant, for example
// "agent name".
func CheckName(what, name string) error {
	if IsName(name) {
		return nil
	}
	nameHint := nameHint
	if lower := strings.ToLower(name); IsName(lower) {
		nameHint = "names are in lower case: " + lower
	}
	switch {
	case name == "":
		return refusal.New(refusal.Invalid, nameHint, "%s is empty", what)
	case len(name) > MaxName:
		return refusal.New(refusal.Invalid, nameHint, "%s has %d bytes, at most %d are allowed", what, len(name), MaxName)
	case !alphanumeric(name[0]):
		return refusal.New(refusal.Invalid, nameHint, "%s %s does not start with a letter a-z or a digit", what, strconv.QuoteToASCII(name))
	}
	return refusal.New(refusal.Invalid, nameHint, "%s %s has a character that is not allowed at byte %d", what, strconv.QuoteToASCII(name), notInNames(name)+1)
}

// IsName reports whether [CheckName] accepts a name, without a refusal.
func IsName(name string) bool {
	return name != "" && len(name) <= MaxName && alphanumeric(name[0]) && notInNames(name) < 0
}

// notInNames is where the first byte is that no name has; -1: nowhere.
func notInNames(name string) int {
	for i := range len(name) {
		if c := name[i]; !alphanumeric(c) && c != '-' && c != '_' && c != '.' {
			return i
		}
	}
	return -1
}

func alphanumeric(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

// CheckOptional is [CheckName] for a name that may be left out.
func CheckOptional(what, name string) error {
	if name == "" {
		return nil
	}
	return CheckName(what, name)
}

// CheckLabel refuses (invalid) a text that cannot be a permission, a tag, the id of a constraint (a new one: see
// [CheckConstraintID]), or a value that one allows.
// Labels come from other systems, such as "refunds:write": 1 to 64 bytes of printable characters without spaces, slashes, quotes, * or >.
func CheckLabel(what, s string) error {
	ok := s != "" && len(s) <= MaxName && utf8.ValidString(s) && s != "." && s != ".." &&
		!strings.ContainsFunc(s, func(r rune) bool {
			return unicode.IsControl(r) || unicode.IsSpace(r) || !unicode.IsPrint(r) || idform.Invisible(r) || strings.ContainsRune(`/\*>"'`, r)
		})
	if !ok {
		return refusal.New(refusal.Invalid, "use 1 to 64 printable characters without spaces, slashes, quotes, * or >",
			"%.80q cannot be the name of %s", s, what)
	}
	return nil
}

// CheckLabels refuses a list that has more than limit labels (too_large), has one twice, or has one that [CheckLabel] refuses.
func CheckLabels(what string, labels []string, limit int) error {
	if len(labels) > limit {
		return refusal.New(refusal.TooLarge, fmt.Sprintf("at most %d", limit), "%d is too many of %s", len(labels), what)
	}
	for i, l := range labels {
		if err := CheckLabel(what, l); err != nil {
			return err
		}
		if slices.Contains(labels[:i], l) {
			return refusal.New(refusal.Invalid, "name each once", "%q is named twice as %s", l, what)
		}
	}
	return nil
}

// CheckTags refuses the tags of a task as [CheckLabels] does.
func CheckTags(tags []string) error { return CheckLabels("a tag", tags, MaxTags) }

// CheckNewTags is [CheckTags] for tags that are given now: see [CheckNewLabels].
func CheckNewTags(tags []string) error { return CheckNewLabels("a tag", tags, MaxTags) }

// CheckPlain refuses (invalid) a label or an id that is made now and has a character outside of ASCII, since letters of other scripts, dashes and full-width forms look
// like those. What the record has may be otherwise.
func CheckPlain(what, s string) error {
	for _, r := range s {
		if r <= ' ' || r > '~' {
			return refusal.New(refusal.Invalid, "use a-z, A-Z, 0-9 and ASCII punctuation, without spaces: other characters can be taken for these",
				"%s cannot name %s: it has the character %U", strconv.QuoteToASCII(refusal.Clip(s, 2*MaxName)), what, r)
		}
	}
	return nil
}

// CheckNewLabels is [CheckLabels] for labels that are given now: it also refuses what [CheckPlain] does, and (invalid) two that differ in case alone.
func CheckNewLabels(what string, labels []string, limit int) error {
	if err := CheckLabels(what, labels, limit); err != nil {
		return err
	}
	for i, l := range labels {
		if err := CheckPlain(what, l); err != nil {
			return err
		}
		if err := CheckCase(what, l, labels[:i]); err != nil {
			return err
		}
	}
	return nil
}

// CheckCase refuses (invalid) a new label or id that differs from one of the others in case alone.
func CheckCase(what, s string, others []string) error {
	for _, o := range others {
		if o != s && strings.EqualFold(o, s) {
			return refusal.New(refusal.Invalid, "spell it in one way", "%s and %s cannot both name %s: they differ in case alone", strconv.QuoteToASCII(s), strconv.QuoteToASCII(o), what)
		}
	}
	return nil
}
