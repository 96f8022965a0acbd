package natslog

import (
	"strings"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

const hex = "0123456789ABCDEF"

// subjectOf returns the subject of a stream below a prefix: its three parts, in which every byte outside A-Z a-z 0-9 _ - is written as =XX, since
// '.', '*', '>' and white space mean something in a subject.
func subjectOf(prefix string, s ledger.Stream) string {
	workspace, kind, id := s.Parts()
	return prefix + "." + Token(workspace) + "." + Token(kind) + "." + Token(id)
}

// Token returns a text as one token of a subject.
func Token(text string) string {
	if !strings.ContainsFunc(text, isSpecial) {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		if !isSpecial(rune(c)) {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('=')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	return b.String()
}

func isSpecial(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-'
}
