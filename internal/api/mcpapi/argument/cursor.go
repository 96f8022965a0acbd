package argument

import (
	"encoding/json"
	"strings"
)

// Cursor is the cursor of an inbox. A number counts as the text of it, since most cursors are one.
type Cursor string

// UnmarshalJSON accepts a text or a number.
func (c *Cursor) UnmarshalJSON(b []byte) error {
	var n json.Number
	if len(b) > 0 && b[0] != '"' && json.Unmarshal(b, &n) == nil {
		*c = Cursor(n)
		return nil
	}
	return json.Unmarshal(b, (*string)(c))
}

// Plain is the cursor as part of a sentence: what no cursor has is left out.
func (c Cursor) Plain() string {
	return strings.Map(func(r rune) rune {
		if r == '-' || '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, string(c))
}
