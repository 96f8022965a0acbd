package server

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/durable"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/seal"
)

// The files of keys in the data directory: the keys of the content, and the key of the installation, unless the environment has that.
const (
	contentKeys     = "erasure/keys"
	installationKey = "erasure/key"
)

// InstallationKey is the variable of the environment with the key of the installation: 32 bytes in base64.
const InstallationKey = "TRAPEZE_INSTALLATION_KEY"

// wrapper returns the key of the installation; create makes one in the data directory if there is none.
func wrapper(dir string, create bool) (seal.Wrapper, error) {
	if text := os.Getenv(InstallationKey); text != "" {
		w, err := wrapperOf(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", InstallationKey, err)
		}
		return w, nil
	}
	path := filepath.Join(dir, installationKey)
	text, err := os.ReadFile(path) //nolint:gosec // the operator's directory
	if errors.Is(err, fs.ErrNotExist) && create {
		key := make([]byte, 32)
		_, _ = rand.Read(key) // it never fails
		text = []byte(base64.StdEncoding.EncodeToString(key) + "\n")
		err = writeFile(path, string(text))
	}
	if err != nil {
		return nil, err
	}
	w, err := wrapperOf(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return w, nil
}

func wrapperOf(text string) (seal.Wrapper, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return nil, errors.New("want 32 bytes in base64, such as from: openssl rand -base64 32")
	}
	return seal.NewWrapper(key)
}

// keysLost is the refusal to start without the keys of a record whose content is sealed.
func keysLost(dir string, cause error) error {
	return refusal.New(refusal.Conflict, "restore "+filepath.Join(dir, contentKeys)+" and the key of the installation (the file "+installationKey+
		", or "+InstallationKey+") from the newest backup, or from the file that trapeze backup --secrets wrote; nothing was changed",
		"the content of this record is sealed, and its keys cannot be used: %v", cause)
}

// openSealer opens the keys of the content, if the directory has them, or makes them if it is to be erasable. nil: the content is not sealed.
func openSealer(c Config) (*seal.Sealer, error) {
	path := filepath.Join(c.DataDir, contentKeys)
	_, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !c.Erasable:
		return nil, nil //nolint:nilnil // see above
	case errors.Is(err, fs.ErrNotExist):
		if err := createKeys(c.DataDir, path); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	}
	w, err := wrapper(c.DataDir, false)
	if err != nil {
		return nil, keysLost(c.DataDir, err)
	}
	keys, err := seal.OpenFile(path, w, false)
	if err != nil {
		return nil, keysLost(c.DataDir, err)
	}
	return seal.New(keys)
}

// createKeys makes the keys of a directory that becomes erasable.
func createKeys(dir, path string) error {
	if _, err := os.Stat(filepath.Join(dir, databaseName)); err == nil {
		r, err := sqlitelog.OpenReader(filepath.Join(dir, databaseName))
		if err != nil {
			return err
		}
		sealed, err := r.IsSealed()
		if err := errors.Join(err, r.Close()); err != nil {
			return err
		}
		if sealed {
			return keysLost(dir, fs.ErrNotExist)
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	w, err := wrapper(dir, true)
	if err != nil {
		return err
	}
	return errors.Join(seal.Create(path, w), durable.Sync(dir))
}

// newestRead is how many of the newest entries are read at the start, to notice keys from an older backup.
const newestRead = 200

// checkKeys refuses keys that lack those of the newest entries.
func (s *Server) checkKeys(ctx context.Context) error {
	if s.sealer == nil {
		return nil
	}
	last, err := s.log.Last(ctx)
	if err != nil {
		return err
	}
	_, err = s.log.Read(ctx, max(last, newestRead)-newestRead, newestRead)
	if errors.Is(err, seal.ErrMissing) {
		return keysLost(s.config.DataDir, err)
	}
	return nil // other damage is reported when it is read
}

// rebuild builds the views again and removes from the files what is no longer in the tables.
func (s *Server) rebuild(ctx context.Context) error {
	if err := s.views.Rebuild(ctx); err != nil {
		return err
	}
	return s.scrub(ctx)
}

// scrub removes from the files what was erased.
func (s *Server) scrub(ctx context.Context) error {
	if s.embedded == nil {
		return nil // nothing is erased in PostgreSQL
	}
	return s.embedded.Scrub(ctx)
}

// tendEvery is the interval at which it is looked for what was erased and is still in free pages.
const tendEvery = 10 * time.Second

// tend erases what the policy keeps no longer, and removes from the files what was erased, until ctx ends.
func (s *Server) tend(ctx context.Context) {
	for range ticks(ctx, tendEvery) {
		if err := s.UseCases.Erasures.Tend(ctx); err != nil && ctx.Err() == nil {
			s.config.Log.Error("removing erased content from the files failed; it is tried again", "error", err)
		}
		if err := s.UseCases.Erasures.RetainDaily(ctx); err != nil && ctx.Err() == nil {
			s.config.Log.Error("applying the retention policy failed; it is tried again", "error", err)
		}
	}
}

// ledgerSealer returns the keys as an interface, which is nil if there are none.
func (s *Server) ledgerSealer() ledger.Sealer {
	if s.sealer == nil {
		return nil
	}
	return s.sealer
}
