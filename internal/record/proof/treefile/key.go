package treefile

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/trapezehq/trapeze/internal/record/proof"
)

const (
	keyName  = "key"
	keysName = "keys"
)

// openKeys reads the keys. If the private key is gone, the log goes on under its name with a new key.
func (s *Store) openKeys() error {
	b, err := os.ReadFile(filepath.Join(s.dir, keysName))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("treefile: %w", err)
	}
	s.keys = string(b)
	private, err := os.ReadFile(filepath.Join(s.dir, keyName))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("treefile: %w", err)
	}
	if s.signer, err = note.NewSigner(strings.TrimSpace(string(private))); err != nil {
		return fmt.Errorf("treefile: the key in %s is damaged: restore it, or remove it, and the next checkpoints are signed with a new key: %w",
			filepath.Join(s.dir, keyName), err)
	}
	if _, err := proof.ParseKeys(s.keys); err != nil {
		return fmt.Errorf("treefile: the file %s is damaged: restore it from a backup: %w", filepath.Join(s.dir, keysName), err)
	}
	return nil
}

// newKey makes a key with the name of the last one. The public key is on the disk before the private one is used.
func (s *Store) newKey() error {
	name := ""
	for line := range strings.Lines(s.keys) {
		if before, _, ok := strings.Cut(line, "+"); ok && before[0] != '#' {
			name = before
		}
	}
	if name == "" {
		var id [8]byte
		_, _ = rand.Read(id[:]) // never fails
		name = "trapeze/" + hex.EncodeToString(id[:])
	}
	private, public, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		return fmt.Errorf("treefile: %w", err)
	}
	s.keys += public + "\n"
	if err := s.write(keysName, []byte(s.keys)); err != nil {
		return err
	}
	if err := s.write(keyName, []byte(private+"\n")); err != nil {
		return err
	}
	s.signer, err = note.NewSigner(private)
	return err
}

// Keys are the public keys of the log, one in each line, the oldest first.
func (s *Store) Keys() string { return s.keys }

// write replaces a file as a whole.
func (s *Store) write(name string, b []byte) (err error) {
	path := filepath.Join(s.dir, name)
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("treefile: %w", err)
	}
	_, err = f.Write(b)
	if err == nil && !s.o.Volatile {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(path+".new", path)
	}
	if err == nil && !s.o.Volatile {
		err = syncDir(s.dir)
	}
	if err != nil {
		return fmt.Errorf("treefile: %w", err)
	}
	return nil
}

// syncDir makes a new name durable.
func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the path is the operator's
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
