package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// The limits of JSON: bytes, and levels of nesting.
const (
	MaxData      = 768 << 10
	MaxSchema    = 64 << 10 // as much as an envelope takes
	MaxJSONDepth = 64
)

// CheckJSON refuses JSON that is too large, malformed or nested too deeply. Absent JSON is fine.
func CheckJSON(what string, b json.RawMessage, limit int) error {
	if len(b) == 0 {
		return nil
	}
	if len(b) > limit {
		return TooLarge(what, len(b), limit)
	}
	if !utf8.Valid(b) || !json.Valid(b) {
		return refusal.New(refusal.Invalid, "send JSON in UTF-8", "%s is not valid JSON", what)
	}
	depth, inString := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case !inString && (c == '{' || c == '['):
			if depth++; depth > MaxJSONDepth {
				return refusal.New(refusal.Invalid, fmt.Sprintf("at most %d levels", MaxJSONDepth), "%s is nested too deeply", what)
			}
		case !inString && (c == '}' || c == ']'):
			depth--
		}
	}
	return nil
}

// compact removes insignificant space. It is nil for what is not JSON.
func compact(b json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	if len(b) == 0 || json.Compact(&out, b) != nil {
		return nil
	}
	return out.Bytes()
}
