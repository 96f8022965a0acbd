package server

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// pageKey returns the key that seals the sessions of the page, from a file of the data directory that only its owner reads. Without the
// file, a new key is made, which ends all sessions.
func (s *Server) pageKey() (key [32]byte, err error) {
	path := filepath.Join(s.config.DataDir, "page.key")
	text, err := os.ReadFile(path)
	if err == nil {
		if n, err := hex.Decode(key[:], text); err == nil && n == len(key) && len(text) == hex.EncodedLen(len(key)) {
			return key, os.Chmod(path, 0o600)
		}
		return key, fmt.Errorf("%s is not a key of 64 hexadecimal digits: remove it, and sign in again", path)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return key, err
	}
	if _, err := rand.Read(key[:]); err != nil {
		return key, err
	}
	return key, writeFile(path, hex.EncodeToString(key[:]))
}
