package configfile

import (
	"errors"
	"strings"
)

// Section puts a body between two marks, each on a line of its own, in place of what is there. Without the marks they are
// put behind everything. One mark alone, or a mark twice, is refused: what is between them would be a guess.
func Section(text, begin, end, body string) (string, error) {
	newline := "\n"
	if strings.Contains(text, "\r\n") {
		newline = "\r\n"
	}
	whole := strings.ReplaceAll(begin+"\n"+strings.Trim(body, "\n")+"\n"+end, "\n", newline)
	first, last := strings.Index(text, begin), strings.Index(text, end)
	switch {
	case strings.Count(text, begin) > 1 || strings.Count(text, end) > 1 || (first < 0) != (last < 0) || last < first:
		return "", errors.New("the marks " + begin + " and " + end + " are not there once each, in this order")
	case first >= 0:
		return text[:first] + whole + text[last+len(end):], nil
	case text == "":
		return whole + newline, nil
	case !strings.HasSuffix(text, "\n"):
		text += newline
	}
	return text + newline + whole + newline, nil
}
