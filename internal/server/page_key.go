package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/trapezehq/trapeze/internal/server/recordfile"
)

// pageKey returns the key that seals the sessions of the page, from a file of the data directory that only its owner reads. Without the
// file, a new key is made, which ends all sessions.
func (s *Server) pageKey(ctx context.Context) (key [32]byte, err error) {
	if s.shared != nil {
		return s.sharedPageKey(ctx)
	}
	path := filepath.Join(s.config.DataDir, recordfile.PageKey)
	text, err := os.ReadFile(path)
	if err == nil {
		if key, ok := recordfile.ParsePageKey(string(text)); ok {
			return key, os.Chmod(path, 0o600)
		}
		return key, fmt.Errorf("%s is not a key of 64 hexadecimal digits as it was written: remove it, and sign in again", path)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return key, err
	}
	made := newPageKey()
	key, _ = recordfile.ParsePageKey(made)
	return key, writeFile(path, made)
}

// newPageKey returns a new key as text: in hexadecimal digits, a hyphen, and the first eight of its SHA-256.
func newPageKey() string {
	var key [32]byte
	_, _ = rand.Read(key[:]) // never fails
	return recordfile.PageKeyText(key)
}
