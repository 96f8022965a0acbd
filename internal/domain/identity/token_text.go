package identity

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

const (
	textPrefix  = "tz_"
	secretBytes = 32 // 256 bits: 52 characters
	idLength    = 16
	secretLen   = 52

	// IDBytes is how many of the bytes that [Mint] takes make the id, the first ones: 80 bits, 16 characters.
	IDBytes = 10
	// RandomBytes is how much randomness [Mint] needs.
	RandomBytes = IDBytes + secretBytes
)

// Base32 in lower case has no underscore, survives a double click, and is read aloud more easily than base64.
const alphabet = "abcdefghijklmnopqrstuvwxyz234567"

var encoding = base32.NewEncoding(alphabet).WithPadding(base32.NoPadding)

// Minted is a fresh token. Text goes to its bearer, once; ID and Hash go into [Create].
type Minted struct {
	ID   string
	Text string
	Hash string
}

// Mint makes a token from random bytes, which must come from a cryptographic source and be used once. The first IDBytes
// are not secret, and may be chosen.
func Mint(random [RandomBytes]byte) Minted {
	id := encoding.EncodeToString(random[:IDBytes])
	secret := encoding.EncodeToString(random[IDBytes:])
	return Minted{ID: id, Text: textPrefix + id + "_" + secret, Hash: hashOf(secret)}
}

// IsToken reports whether text claims to be a token of this server, well formed or not.
func IsToken(text string) bool { return strings.HasPrefix(text, textPrefix) }

// ParseToken splits a token's text, "tz_ID_SECRET", strictly: every token has exactly one spelling. It refuses
// (unauthenticated) anything else, without repeating it.
func ParseToken(text string) (id, secret string, err error) {
	rest, ok := strings.CutPrefix(text, textPrefix)
	id, secret, cut := strings.Cut(rest, "_")
	if !ok || !cut || !canonical(id, idLength) || !canonical(secret, secretLen) {
		return "", "", refusal.New(refusal.Unauthenticated,
			"send the whole token as it was printed when it was created: tz_, 16 characters, _, 52 characters",
			"this is not a token")
	}
	return id, secret, nil
}

// canonical reports whether s is what the encoder would write of whole bytes: so many letters, and no bits left over in the last one.
func canonical(s string, length int) bool {
	if len(s) != length || strings.Trim(s, alphabet) != "" {
		return false
	}
	over := 5 * length % 8
	return strings.IndexByte(alphabet, s[length-1])&(1<<over-1) == 0
}

func hashOf(secret string) string {
	text := digestOf(secret)
	return string(text[:])
}

// digestOf is hashOf on the stack, for each call.
func digestOf(secret string) (text [2 * sha256.Size]byte) {
	h := sha256.Sum256([]byte(secret))
	hex.Encode(text[:], h[:])
	return text
}

// validHash reports whether s could come from hashOf.
func validHash(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size && hex.EncodeToString(b) == s
}

// CheckID refuses (invalid) what cannot be a token's id.
func CheckID(id string) error {
	if canonical(id, idLength) {
		return nil
	}
	return refusal.New(refusal.Invalid, "[list the tokens](token list) to see their ids", "%.40q is not a token id", id)
}
