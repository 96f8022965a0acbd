package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strings"
)

// keySize is the size of keys, in bytes: AES-256.
const keySize = 32

// Wrapper encrypts the key of a key file, which encrypts the keys in it: with a key of the installation, such as one in a service for keys.
type Wrapper interface {
	// Wrap encrypts a key.
	Wrap(key []byte) ([]byte, error)
	// Unwrap returns a key that Wrap encrypted.
	Unwrap(wrapped []byte) ([]byte, error)
}

// errKey is the error for what was encrypted under another key, or changed.
var errKey = errors.New("it was encrypted under another key, or changed")

// NewWrapper returns a wrapper with a key of 32 bytes.
func NewWrapper(key []byte) (Wrapper, error) {
	if len(key) != keySize {
		return nil, fmt.Errorf("a key of %d bytes, want %d", len(key), keySize)
	}
	return box{newAEAD(key)}, nil
}

type box struct{ aead cipher.AEAD }

// Wrap implements [Wrapper].
func (b box) Wrap(key []byte) ([]byte, error) { return lock(b.aead, key, nil), nil }

// Unwrap implements [Wrapper].
func (b box) Unwrap(wrapped []byte) ([]byte, error) { return unlock(b.aead, wrapped, nil) }

// newAEAD returns AES-256-GCM with a random nonce before each text.
func newAEAD(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // only a size is an error
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // only a block size is an error
	}
	return aead
}

func lock(aead cipher.AEAD, text, bound []byte) []byte { return aead.Seal(nil, nil, text, bound) }

func unlock(aead cipher.AEAD, sealed, bound []byte) ([]byte, error) {
	text, err := aead.Open(nil, nil, sealed, bound)
	if err != nil {
		return nil, errKey
	}
	return text, nil
}

// newKey returns a random key.
func newKey() []byte {
	b := make([]byte, keySize)
	_, _ = rand.Read(b) // it never fails
	return b
}

// CheckKeyFile returns an error if a file with a key of the installation is not in the form in which it is written. One that is not there, or cannot be
// read, is none: to open the keys with it fails.
func CheckKeyFile(path string) error {
	b, err := os.ReadFile(path) //nolint:gosec // the path is the operator's
	text := strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")
	key, derr := base64.StdEncoding.DecodeString(text)
	if err == nil && (derr != nil || base64.StdEncoding.EncodeToString(key) != text) {
		return fmt.Errorf("%s was changed: it is not 32 bytes in base64 as they are written", path)
	}
	return nil
}
