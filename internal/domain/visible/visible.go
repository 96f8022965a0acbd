package visible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxBackquotes is the longest run of backquotes in a text of [Text]; it bounds the fences around it.
const MaxBackquotes = 16

// invisibles are the characters that take no space on a screen or change how others are shown: controls, zero-width and
// bidirectional format characters, tag characters, line separators, variation selectors and fillers.
var invisibles = []*unicode.RangeTable{
	unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
	unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point,
}

// Hidden reports whether r takes no space on a screen or changes how others are shown, so that it must be shown by its number,
// except where it belongs to a word or an emoji: see [Text].
func Hidden(r rune) bool {
	if r >= ' ' && r < 0x7F {
		return false
	}
	return unicode.In(r, invisibles...)
}

// Text returns text with every hidden character shown as ⟨U+202E⟩, line ends as \n, and runs of more than
// [MaxBackquotes] backquotes by their number. Tabs and line feeds are kept, and so are joiners where a language or an emoji
// needs them, variation selectors after what can be an emoji, the tags of flags, soft hyphens between letters, and word joiners between
// characters that are seen.
func Text(text string) string {
	if Plain(text) {
		return text
	}
	return shown(text, MaxBackquotes)
}

// Document is [Text] of a text whose fences and code spans are its own, such as a prompt: it leaves all backquotes as they are.
func Document(text string) string {
	if Plain(text) {
		return text
	}
	return shown(text, len(text))
}

// shown is Text with runs of more than most backquotes shown by their number.
func shown(text string, most int) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var b strings.Builder
	b.Grow(len(text))
	for rest := text; rest != ""; {
		if run := len(rest) - len(strings.TrimLeft(rest, "`")); run > most {
			fmt.Fprintf(&b, "⟨U+0060 ×%d⟩", run)
			rest = rest[run:]
			continue
		} else if run > 0 {
			b.WriteString(rest[:run])
			rest = rest[run:]
			continue
		}
		r, n := utf8.DecodeRuneInString(rest)
		if r != '\n' && r != '\t' && Hidden(r) && !joins(text[:len(text)-len(rest)], r, rest[n:]) {
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		} else {
			b.WriteRune(r) // U+FFFD for invalid UTF-8
		}
		rest = rest[n:]
	}
	return b.String()
}

// The joiners that Persian, Hindi and others are written with, and that emoji are put together with; and the selector that asks for
// an emoji where a character can also be text.
const (
	zeroWidthNonJoiner = 0x200C
	zeroWidthJoiner    = 0x200D
	emojiSelector      = 0xFE0F
	textSelector       = 0xFE0E // the same for a text where a character can also be an emoji
	softHyphen         = 0x00AD
	wordJoiner         = 0x2060
	keycap             = 0x20E3 // after a digit, #, or * and a selector
)

// selectable are the characters that [emojiSelector] can follow and that are no symbols (Unicode's emoji-variation-sequences.txt).
const selectable = "\u203c\u2049\u2139\u3030\u303d\U0001F202\U0001F237"

// flags are the recommended emoji that have tag characters (Unicode's emoji-sequences.txt). Others could hide text.
var flags = [...]string{tagged("gbeng"), tagged("gbsct"), tagged("gbwls")}

// tagged is the flag of a region: a black flag, the region in tag characters, and the one that ends them.
func tagged(region string) string {
	flag := "\U0001F3F4"
	for i := range len(region) {
		flag += string(0xE0000 + rune(region[i]))
	}
	return flag + "\U000E007F"
}

// joins reports whether r is in its place in running text: a single joiner between letters or marks of one script that needs it, a joiner
// between two emoji, a selector after a character that can be an emoji, a tag character of a flag, a soft hyphen between two
// letters, or a single word joiner between two characters that are seen. Anywhere else it could only hide something.
func joins(before string, r rune, after string) bool {
	prev, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	switch r {
	case zeroWidthNonJoiner, zeroWidthJoiner:
		return joinsLetters(prev, next) || r == zeroWidthJoiner && joinsEmoji(before, prev, next)
	case emojiSelector, textSelector:
		return symbol(prev) || unicode.Is(unicode.Sm, prev) && prev > 0x7F || strings.ContainsRune(selectable, prev) && prev != utf8.RuneError ||
			next == keycap && strings.ContainsRune("0123456789#*", prev)
	case softHyphen:
		return unicode.IsLetter(prev) && unicode.IsLetter(next) && !Hidden(prev) && !Hidden(next) // fillers are letters
	case wordJoiner:
		return seen(prev) && seen(next)
	}
	for _, flag := range flags {
		if at := strings.IndexRune(flag, r); at > 0 && inFlag(flag, before, r, after) {
			return true
		}
	}
	return false
}

// inFlag reports whether r is a part of the flag that before and after have the others of.
func inFlag(flag, before string, r rune, after string) bool {
	for at, tag := range flag {
		if tag == r && at > 0 && strings.HasSuffix(before, flag[:at]) && strings.HasPrefix(after, flag[at+utf8.RuneLen(tag):]) {
			return true
		}
	}
	return false
}

// seen reports whether r takes space that is not blank. RuneError stands for the end of the text, too.
func seen(r rune) bool {
	return r != utf8.RuneError && unicode.IsGraphic(r) && !unicode.IsSpace(r) && !Hidden(r)
}

func joinsLetters(prev, next rune) bool {
	for _, script := range joining {
		if unicode.Is(script, prev) && unicode.Is(script, next) {
			return true
		}
	}
	return false
}

// joinsEmoji reports whether a joiner after text that ends with prev is between two emoji.
func joinsEmoji(before string, prev, next rune) bool {
	if prev == emojiSelector && !joins(before[:len(before)-len("\ufe0f")], prev, string(rune(zeroWidthJoiner))) {
		return false
	}
	return (symbol(prev) || prev == emojiSelector) && symbol(next)
}

// symbol reports whether r may be an emoji. RuneError, which stands for the end of the text, is a symbol too, and no emoji.
func symbol(r rune) bool {
	return r > 0x7F && r != utf8.RuneError && unicode.In(r, unicode.So, unicode.Sk)
}

// joining are the scripts in whose words joiners stand.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
	unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Mongolian,
	unicode.Syriac,
}

// JSON does the same to JSON text with the escapes of JSON, so that its value does not change. The text must not have white
// space other than spaces between its values.
func JSON(text string) string {
	escape := LongestRun(text) > MaxBackquotes
	if !escape && utf8.ValidString(text) && !strings.ContainsFunc(text, Hidden) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range text {
		switch {
		case r == '`' && escape:
			b.WriteString(`\u0060`)
		case !Hidden(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			high, low := surrogates(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func surrogates(r rune) (high, low rune) {
	r -= 0x10000
	return 0xD800 + r>>10, 0xDC00 + r&0x3FF
}

// LongestRun returns the length of the longest run of backquotes in text.
func LongestRun(text string) int {
	for longest := 0; ; {
		i := strings.IndexByte(text, '`')
		if i < 0 {
			return longest
		}
		rest := strings.TrimLeft(text[i:], "`")
		longest = max(longest, len(text)-i-len(rest))
		text = rest
	}
}
