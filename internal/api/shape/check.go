package shape

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// MaxDepth is the maximum nesting of JSON. It allows for the fields around the deepest data that the rules accept.
const MaxDepth = event.MaxJSONDepth + 8

// Check refuses JSON that is not UTF-8, is nested too deeply or has a field twice, before it is decoded. Of a field that occurs twice,
// huma validates only the last, but the decoder reads both.
func Check(b []byte) error {
	if !utf8.Valid(b) {
		return errors.New("is not valid UTF-8")
	}
	var open []level
	for i := 0; i < len(b); i++ {
		switch c := b[i]; c {
		case '"':
			end := stringEnd(b, i)
			if n := len(open); n > 0 && open[n-1].key {
				if err := open[n-1].name(b[i:end]); err != nil {
					return err
				}
			}
			i = end - 1
		case '{', '[':
			if len(open) == MaxDepth {
				return fmt.Errorf("is nested more than %d levels deep", MaxDepth)
			}
			open = append(open, level{object: c == '{', key: c == '{'})
		case '}', ']':
			open = open[:max(len(open)-1, 0)]
		case ',':
			if n := len(open); n > 0 {
				open[n-1].key = open[n-1].object
			}
		}
	}
	return nil
}

// level is an object or list that is being read.
type level struct {
	object bool
	key    bool // the next string is a key
	keys   map[string]bool
}

// name reads the next key, with its quotes.
func (l *level) name(quoted []byte) error {
	l.key = false
	name := strings.Trim(string(quoted), `"`)
	if bytes.IndexByte(quoted, '\\') >= 0 {
		_ = json.Unmarshal(quoted, &name) // if this fails, decoding the text fails
	}
	if l.keys[name] {
		return fmt.Errorf("has the field %q twice in one object", refusal.Clip(name, 80))
	}
	if l.keys == nil {
		l.keys = map[string]bool{}
	}
	l.keys[name] = true
	return nil
}

// stringEnd returns the end of the string that begins at i, including its quotes.
func stringEnd(b []byte, i int) int {
	i++
	if n := bytes.IndexByte(b[i:], '"'); n >= 0 && bytes.IndexByte(b[i:i+n], '\\') < 0 {
		return i + n + 1
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}
