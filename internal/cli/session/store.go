package session

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// Session is a person's session at the issuer of a server.
type Session struct {
	Server  string    `json:"server"` // its URL
	Issuer  string    `json:"issuer"`
	Client  string    `json:"client"` // id of the server's client at the issuer
	Token   string    `json:"token"`  // for the server: the ID token
	Refresh string    `json:"refresh,omitempty"`
	Expires time.Time `json:"expires"` // when the token does
}

// Store keeps sessions in a directory, in a file for each server.
type Store struct{ Dir string }

func (s Store) path(server string) string {
	sum := sha256.Sum256([]byte(server))
	return filepath.Join(s.Dir, hex.EncodeToString(sum[:8])+".json")
}

// Load returns the session of a server; nil: there is none. A file that others can read is refused.
func (s Store) Load(server string) (*Session, error) {
	path := s.path(server)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // there is none
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read by others (mode %04o): remove it, and sign in again with trapeze login", path, info.Mode().Perm())
	}
	var in Session
	if err := json.NewDecoder(f).Decode(&in); err != nil || in.Server != server || in.Token == "" {
		return nil, fmt.Errorf("%s is not a session of this server: remove it, and sign in again with trapeze login", path)
	}
	return &in, nil
}

// Save keeps a session.
func (s Store) Save(in Session) error {
	b, err := json.Marshal(in)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(s.Dir, ".session-*") // created with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone after the rename
	_, err = tmp.Write(append(b, '\n'))
	if err := errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), s.path(in.Server))
}

// Remove forgets the session of a server.
func (s Store) Remove(server string) error {
	err := os.Remove(s.path(server))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
