package event

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// The limits of names and labels, and of lists of them.
const (
	MaxName        = 64  // bytes
	MaxPermissions = 128 // per task
	MaxTags        = 32  // per task
)

const nameHint = "use 1 to 64 of a-z, 0-9, '-', '_' and '.', starting with a letter or digit"

// CheckName refuses (invalid) a text that cannot name an agent, a capability, a channel, a conversation, a tokenizer, a workspace
// or a principal: a name has 1 to 64 characters of a-z, 0-9, '-', '_' and '.', and starts with a letter or digit. Such a
// name is safe in streams, URLs, file names and prompts. What says in the message which name is meant, for example
// "agent name".
func CheckName(what, name string) error {
	nameHint := nameHint
	if lower := strings.ToLower(name); lower != name && CheckName(what, lower) == nil {
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
	for i := range len(name) {
		if c := name[i]; !alphanumeric(c) && c != '-' && c != '_' && c != '.' {
			return refusal.New(refusal.Invalid, nameHint, "%s %s has a character that is not allowed at byte %d", what, strconv.QuoteToASCII(name), i+1)
		}
	}
	return nil
}

func alphanumeric(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

// CheckOptional is [CheckName] for a name that may be left out.
func CheckOptional(what, name string) error {
	if name == "" {
		return nil
	}
	return CheckName(what, name)
}

// CheckLabel refuses (invalid) a text that cannot be a permission, a tag, the id of a constraint, or a value that one allows.
// Labels come from other systems, such as "refunds:write": 1 to 64 bytes of printable characters without spaces, slashes,
// quotes, * or >.
func CheckLabel(what, s string) error {
	ok := s != "" && len(s) <= MaxName && utf8.ValidString(s) && s != "." && s != ".." &&
		!strings.ContainsFunc(s, func(r rune) bool {
			return unicode.IsControl(r) || unicode.IsSpace(r) || !unicode.IsPrint(r) || strings.ContainsRune(`/\*>"'`, r)
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
