package server

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/durable"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/seal"
	"github.com/trapezehq/trapeze/internal/server/recordfile"
)

// installation returns the key of the installation, which it makes if there is none.
func installation(dir string) (seal.Wrapper, error) {
	w, err := seal.Installation(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return w, err
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	if err := writeFile(filepath.Join(dir, seal.InstallationFile), base64.StdEncoding.EncodeToString(key)+"\n"); err != nil {
		return nil, err
	}
	return seal.Installation(dir)
}

// keysLost is the refusal to start without the keys of a record whose content is sealed.
func keysLost(dir string, cause error) error {
	return refusal.New(refusal.Conflict, "restore "+filepath.Join(dir, seal.ContentKeys)+" and the key of the installation (the file "+seal.InstallationFile+
		", or "+seal.InstallationKey+") from the newest backup, or from the file that trapeze backup --secrets wrote; nothing was changed",
		"the content of this record is sealed, and its keys cannot be used: %v", cause)
}

// openSealer opens the keys of the content, if the directory has them, or makes them if it is to be erasable. nil: the content is not sealed.
func openSealer(c Config) (*seal.Sealer, error) {
	path := filepath.Join(c.DataDir, seal.ContentKeys)
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
	w, err := seal.Installation(c.DataDir)
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
	if _, err := os.Stat(filepath.Join(dir, recordfile.Database)); err == nil {
		r, err := sqlitelog.OpenReader(filepath.Join(dir, recordfile.Database))
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
	w, err := installation(dir)
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
	err = ledger.Through(ctx, s.log, max(last, newestRead)-newestRead, last, func(*ledger.Entry) error { return nil })
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
	return errors.Join(s.embedded.Scrub(ctx), s.views.Purge())
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
