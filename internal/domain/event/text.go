package event

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// The limits of texts, in bytes.
const (
	MaxIntent      = 64 << 10
	MaxText        = 16 << 10 // of a detail or a note
	maxDescription = 2000     // of an agent or a channel
)

// TooLarge refuses (too_large) something that has more bytes than it may have.
func TooLarge(what string, got, limit int) error {
	return refusal.New(refusal.TooLarge, fmt.Sprintf("at most %d bytes; [store larger content as an artifact](artifact put) and refer to it", limit),
		"%s has %d bytes", what, got)
}

// TooMany refuses (too_large) a list with more entries than it may have. what is the plural of its entries.
func TooMany(what string, got, limit int) error {
	return tooMany(what, got, limit, "name those that matter most")
}

// checkCount is nil for a list with at most limit entries. advice says what to do with the others.
func checkCount(what string, got, limit int, advice string) error {
	if got <= limit {
		return nil
	}
	return tooMany(what, got, limit, advice)
}

func tooMany(what string, got, limit int, advice string) error {
	return refusal.New(refusal.TooLarge, fmt.Sprintf("at most %d; %s", limit, advice), "%d %s are too many", got, what).With("limit", limit)
}

// CheckText refuses a text that has more than limit bytes (too_large) or is not UTF-8 (invalid).
func CheckText(what, s string, limit int) error {
	if len(s) > limit {
		return TooLarge(what, len(s), limit)
	}
	if !utf8.ValidString(s) {
		return refusal.New(refusal.Invalid, "send UTF-8", "%s is not valid UTF-8", what)
	}
	return nil
}

// CheckField is [CheckText] for a field of a call with at most [MaxText] bytes.
func CheckField(field, s string) error {
	if len(s) <= MaxText && utf8.ValidString(s) {
		return nil
	}
	return refusal.In(field, CheckText("the "+field, s, MaxText))
}

// CheckDescription refuses a description, such as that of an agent or a channel, that has more than 2,000 bytes or is not plain text: it may
// have line breaks and tabs, but no other control characters. what names it, as "the description"; hint says what to write instead.
func CheckDescription(what, s, hint string) error {
	if len(s) > maxDescription {
		return refusal.New(refusal.TooLarge, fmt.Sprintf("%s, in at most %d bytes", hint, maxDescription), "%s has %d bytes", what, len(s))
	}
	if !utf8.ValidString(s) {
		return refusal.New(refusal.Invalid, hint, "%s is not valid UTF-8", what)
	}
	for _, r := range s {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			return refusal.New(refusal.Invalid, hint, "%s has the control character %U", what, r)
		}
	}
	return nil
}
