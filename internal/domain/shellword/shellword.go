package shellword

import "strings"

// safe are the characters that no shell gives a meaning within a word.
const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_:,./@%+"

// Quote returns word as one word for a POSIX shell (IEEE Std 1003.1, 2.2.2 Single-Quotes). A word that needs no quotes stays as it
// is. NUL, which no argument can have, is omitted.
func Quote(word string) string {
	if bare(word) {
		return word
	}
	word = strings.ReplaceAll(word, "\x00", "")
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func bare(word string) bool {
	for i := range len(word) {
		// "=" at the beginning is a path for zsh, and "a=b" is no assignment after the name of a command.
		if c := word[i]; strings.IndexByte(safe, c) < 0 && (c != '=' || i == 0) {
			return false
		}
	}
	return word != ""
}

// Quotes returns words, quoted, with spaces between them.
func Quotes(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Quote(w)
	}
	return strings.Join(quoted, " ")
}

// Or returns words, quoted, with "or" between them: a choice of values.
func Or(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Quote(w)
	}
	return strings.Join(quoted, ", or ")
}

// Command returns a command line: command, which is a program with its options, as it is, and the arguments, quoted. If one of
// them could be taken for an option, they follow "--".
func Command(command string, args ...string) string {
	for _, a := range args {
		if strings.HasPrefix(a, "-") {
			command += " --"
			break
		}
	}
	if len(args) == 0 {
		return command
	}
	return command + " " + Quotes(args...)
}
