package trapezetest

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/client"
)

// Mentions is a [Judge] without a model: the result must mention every number and identifier of the intent, and half of its other words
// of at least five letters. It misses nothing that a program can see, and understands nothing.
func Mentions(intent string, r client.Result) (missing []string) {
	result := map[string]bool{}
	for _, w := range words(text(r)) {
		result[stem(w)] = true
	}
	var lacking []string
	count := 0
	for _, w := range words(intent) {
		exact := strings.ContainsFunc(w, func(r rune) bool { return unicode.IsDigit(r) || r == '_' })
		switch {
		case exact && !result[stem(w)]:
			missing = append(missing, w)
		case !exact && utf8.RuneCountInString(w) >= 5:
			if count++; !result[stem(w)] {
				lacking = append(lacking, w)
			}
		}
	}
	if 2*len(lacking) > count {
		missing = append(missing, lacking...)
	}
	return missing
}

// MentionsAll returns a [Judge] that wants each of the texts in the result, in any case.
func MentionsAll(texts ...string) Judge {
	return func(_ string, r client.Result) (missing []string) {
		has := strings.ToLower(text(r))
		return slices.DeleteFunc(slices.Clone(texts), func(t string) bool { return strings.Contains(has, strings.ToLower(t)) })
	}
}

// text is all text of a result.
func text(r client.Result) string { return strings.TrimSpace(r.Text + " " + string(r.Data)) }

// words are the words of a text in small letters, each once.
func words(s string) (list []string) {
	split := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' && r != '.'
	}
	for w := range strings.FieldsFuncSeq(strings.ToLower(s), split) {
		if w = strings.Trim(w, "-."); w != "" && !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	return list
}

// stem drops the endings by which a word differs most often.
func stem(w string) string {
	for _, end := range []string{"ing", "ed", "es", "s"} {
		if s, ok := strings.CutSuffix(w, end); ok && len(s) >= 4 {
			return s
		}
	}
	return w
}
