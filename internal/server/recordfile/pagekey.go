package recordfile

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// PageKeyText is the text of a key of the page: hexadecimal digits, a hyphen, and the first eight of its SHA-256.
func PageKeyText(key [32]byte) string {
	sum := sha256.Sum256(key[:])
	return hex.EncodeToString(key[:]) + "-" + hex.EncodeToString(sum[:4])
}

// ParsePageKey reads a key from its text. Those of earlier versions have no sum.
func ParsePageKey(text string) (key [32]byte, ok bool) {
	digits, _, summed := strings.Cut(text, "-")
	if len(digits) != hex.EncodedLen(len(key)) {
		return key, false
	}
	_, err := hex.Decode(key[:], []byte(digits))
	return key, err == nil && (!summed || text == PageKeyText(key))
}
