package server

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// pageKeyName is the file of the key of the page.
const pageKeyName = "page.key"

// pageKey returns the key that seals the sessions of the page, from a file of the data directory that only its owner reads. Without the
// file, a new key is made, which ends all sessions.
func (s *Server) pageKey(ctx context.Context) (key [32]byte, err error) {
	if s.shared != nil {
		return s.sharedPageKey(ctx)
	}
	path := filepath.Join(s.config.DataDir, pageKeyName)
	text, err := os.ReadFile(path)
	if err == nil {
		if key, ok := parsePageKey(string(text)); ok {
			return key, os.Chmod(path, 0o600)
		}
		return key, fmt.Errorf("%s is not a key of 64 hexadecimal digits as it was written: remove it, and sign in again", path)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return key, err
	}
	made := newPageKey()
	key, _ = parsePageKey(made)
	return key, writeFile(path, made)
}

// newPageKey returns a new key as text: in hexadecimal digits, a hyphen, and the first eight of its SHA-256.
func newPageKey() string {
	var key [32]byte
	_, _ = rand.Read(key[:]) // never fails
	return pageKeyText(key)
}

func pageKeyText(key [32]byte) string {
	sum := sha256.Sum256(key[:])
	return hex.EncodeToString(key[:]) + "-" + hex.EncodeToString(sum[:4])
}

// parsePageKey reads a key from its text. Those of earlier versions have no sum.
func parsePageKey(text string) (key [32]byte, ok bool) {
	digits, _, summed := strings.Cut(text, "-")
	if len(digits) != hex.EncodedLen(len(key)) {
		return key, false
	}
	_, err := hex.Decode(key[:], []byte(digits))
	return key, err == nil && (!summed || text == pageKeyText(key))
}
