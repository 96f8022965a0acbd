package configfile

import (
	"errors"
	"strings"
)

// Section replaces the text between two marks, each on its own line, by a body. Without the marks it appends the section. It refuses a text
// with a single mark, or with a mark twice.
func Section(text, begin, end, body string) (string, error) {
	newline := "\n"
	if strings.Contains(text, "\r\n") {
		newline = "\r\n"
	}
	whole := strings.ReplaceAll(begin+"\n"+strings.Trim(body, "\n")+"\n"+end, "\n", newline)
	first, last := strings.Index(text, begin), strings.Index(text, end)
	switch {
	case strings.Count(text, begin) > 1 || strings.Count(text, end) > 1 || (first < 0) != (last < 0) || last < first:
		return "", errors.New("the marks " + begin + " and " + end + " must occur once each, in this order")
	case first >= 0:
		return text[:first] + whole + text[last+len(end):], nil
	case text == "":
		return whole + newline, nil
	case !strings.HasSuffix(text, "\n"):
		text += newline
	}
	return text + newline + whole + newline, nil
}
