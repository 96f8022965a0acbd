package treefile

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/trapezehq/trapeze/internal/record/durable"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

const (
	keyName  = "key"
	keysName = "keys"
	nextName = "key.next" // the key that is to follow, private and public
)

// openKeys reads the keys. If the private key is gone, the log goes on under its name with a new key.
func (s *Store) openKeys() error {
	b, err := os.ReadFile(filepath.Join(s.dir, keysName))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("treefile: %w", err)
	}
	s.keys = string(b)
	if s.o.Shared != "" {
		return s.openShared()
	}
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

// NewSharedKey makes a key for [Options].Shared, with a name of its own: the private and the public key, in a line each.
func NewSharedKey() (string, error) {
	private, public, err := note.GenerateKey(rand.Reader, newName())
	if err != nil {
		return "", fmt.Errorf("treefile: %w", err)
	}
	return private + "\n" + public + "\n", nil
}

// openShared takes the key that is shared, and keeps the public ones in the directory, for those who verify it: besides the last, those that signed before the
// record was moved into the database.
func (s *Store) openShared() (err error) {
	lines := proof.KeyList(s.o.Shared)
	if len(lines) < 2 {
		return errors.New("treefile: the key that the front ends share is damaged")
	}
	if s.signer, err = note.NewSigner(lines[0]); err != nil || !proof.Signs(s.signer, lines[len(lines)-1]) {
		return errors.New("treefile: the keys that the front ends share do not belong together")
	}
	keys := strings.Join(lines[1:], "\n") + "\n"
	if s.keys == keys {
		return nil
	}
	s.keys = keys
	return s.write(keysName, []byte(s.keys))
}

// newName returns a name for a log.
func newName() string {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	return "trapeze/" + hex.EncodeToString(id[:])
}

// newKey makes a key with the name of the last one. The public key is on the disk before the private one is used.
func (s *Store) newKey() error {
	name := ""
	if list := proof.KeyList(s.keys); len(list) > 0 {
		name, _, _ = strings.Cut(list[len(list)-1], "+")
	}
	if name == "" {
		name = newName()
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
func (s *Store) Keys() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys
}

// PrepareKey makes the key that is to follow, and returns its public key. It takes the place of one that was prepared before, and signs nothing before
// [Store.UseKey]. The old key is the one that signs now.
func (s *Store) PrepareKey() (old, public string, err error) {
	s.mu.Lock()
	signer := s.signer
	for _, key := range proof.KeyList(s.keys) {
		if proof.Signs(signer, key) {
			old = key
		}
	}
	s.mu.Unlock()
	private, public, err := note.GenerateKey(rand.Reader, signer.Name())
	if err != nil {
		return "", "", fmt.Errorf("treefile: %w", err)
	}
	return old, public, s.write(nextName, []byte(private+"\n"+public+"\n"))
}

// Prepared is the public key that was prepared and does not sign yet; empty: there is none.
func (s *Store) Prepared() string {
	_, public, err := s.prepared()
	if err != nil {
		return ""
	}
	return public
}

// prepared reads the key that was prepared.
func (s *Store) prepared() (private, public string, err error) {
	b, err := os.ReadFile(filepath.Join(s.dir, nextName))
	if err != nil {
		return "", "", err
	}
	lines := proof.KeyList(string(b))
	if len(lines) != 2 {
		return "", "", fmt.Errorf("the file %s is damaged", nextName)
	}
	return lines[0], lines[1], nil
}

// UseKey has checkpoints signed by the key that was prepared, if its public key is this one: the public key is on the disk before the private one signs. It
// can be repeated after an interruption at any point.
func (s *Store) UseKey(public string) error {
	private, next, err := s.prepared()
	if errors.Is(err, os.ErrNotExist) || err == nil && next != public {
		return nil
	} else if err != nil {
		return fmt.Errorf("treefile: %w", err)
	}
	signer, err := note.NewSigner(private)
	if err != nil || !proof.Signs(signer, public) {
		return fmt.Errorf("treefile: the keys in %s do not belong together: %w", nextName, err)
	}
	s.sealing.Lock()
	defer s.sealing.Unlock()
	keys := s.Keys()
	if !slices.Contains(proof.KeyList(keys), public) {
		keys += public + "\n"
		if err := s.write(keysName, []byte(keys)); err != nil {
			return err
		}
	}
	if err := s.write(keyName, []byte(private+"\n")); err != nil {
		return err
	}
	s.mu.Lock()
	s.keys, s.signer, s.again = keys, signer, true
	s.unsigned()
	s.mu.Unlock()
	if err := os.Remove(filepath.Join(s.dir, nextName)); err != nil {
		return fmt.Errorf("treefile: %w", err)
	}
	return nil
}

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
		err = durable.Sync(s.dir)
	}
	if err != nil {
		return fmt.Errorf("treefile: %w", err)
	}
	return nil
}
