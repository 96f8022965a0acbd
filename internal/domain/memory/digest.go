package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// DigestOf is the digest of a version: "sha256:" and 64 lower-case hex digits, over the canonical JSON (RFC 8785) of
// {"salt":…,"text":…,"title":…}, all three always there. A reader of the version can compute it.
func DigestOf(salt, title, text string) string {
	b := make([]byte, 0, len(salt)+len(title)+len(text)+64)
	b = appendString(append(b, `{"salt":`...), salt)
	b = appendString(append(b, `,"text":`...), text)
	b = appendString(append(b, `,"title":`...), title)
	sum := sha256.Sum256(append(b, '}'))
	return digestPrefix + hex.EncodeToString(sum[:])
}

const digestPrefix = "sha256:"

func validDigest(s string) bool {
	digits, ok := strings.CutPrefix(s, digestPrefix)
	return ok && len(digits) == 2*sha256.Size && lowerHex(digits)
}

func lowerHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

// appendString writes a JSON string as RFC 8785 has it: only what must be escaped is, in the shortest way.
func appendString(b []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= ' ' || c >= utf8.RuneSelf:
			b = append(b, c)
		case strings.IndexByte("\b\t\n\f\r", c) >= 0:
			b = append(b, '\\', "btn?fr"[c-'\b'])
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
		}
	}
	return append(b, '"')
}
