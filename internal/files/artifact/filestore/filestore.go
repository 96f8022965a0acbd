package filestore

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/files/artifact"
)

// Options of a store. The zero value is usable.
type Options struct {
	MaxSize int64            // bytes of one artifact; 0 means [artifact.DefaultMaxSize]
	Quota   artifact.Quota   // of each workspace; fields that are 0 mean the defaults
	MinFree int64            // free bytes of the disk below which Put is refused; 0 means 64 MiB, negative no check
	Now     func() time.Time // nil means time.Now
}

// defaultMinFree is twice that of the embedded ledger: a disk that fills up with artifacts does not stop handoffs.
const defaultMinFree = 64 << 20

// Store stores artifacts as files.
type Store struct {
	dir     string
	root    *os.Root
	max     int64
	quota   artifact.Quota
	check   func(workspace string, would artifact.Quota) error // nil: none beside the quota
	minFree int64
	now     func() time.Time

	// mu serialises renaming, touching and deleting files, so that a sweep cannot delete content that was just put again,
	// and quotas are exact. Content is written and read outside it.
	mu   sync.Mutex
	used map[string]artifact.Quota // by workspace
}

var _ artifact.Store = (*Store)(nil)

const (
	unfinished = "new"
	data       = "data"
)

// Open returns the store in a directory, which it creates if necessary, and removes unfinished files of a crash.
func Open(dir string, o Options) (*Store, error) {
	if o.MaxSize == 0 {
		o.MaxSize = artifact.DefaultMaxSize
	}
	if o.MinFree == 0 {
		o.MinFree = defaultMinFree
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("artifacts: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("artifacts: %w", err)
	}
	s := &Store{
		dir: dir, root: root, max: o.MaxSize, quota: o.Quota.WithDefaults(), minFree: o.MinFree, now: o.Now,
		used: map[string]artifact.Quota{},
	}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(fmt.Errorf("artifacts: %w", err), root.Close())
	}
	return s, nil
}

func (s *Store) prepare() error {
	if err := s.root.Chmod(".", 0o700); err != nil {
		return err
	}
	if err := s.root.RemoveAll(unfinished); err != nil {
		return err
	}
	if err := s.root.Mkdir(unfinished, 0o700); err != nil {
		return err
	}
	if err := s.root.Mkdir(data, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := s.sync("."); err != nil {
		return err
	}
	return s.count()
}

// Put implements [artifact.Store]. It also writes content that is already stored, which repairs a damaged file.
func (s *Store) Put(ctx context.Context, workspace string, r io.Reader) (artifact.Info, error) {
	if err := (artifact.Key{Workspace: workspace, Digest: artifact.DigestOf(nil)}).Check(); err != nil {
		return artifact.Info{}, err
	}
	tmp := path.Join(unfinished, rand.Text())
	info, err := s.write(ctx, tmp, r)
	if err == nil {
		err = s.commit(tmp, artifact.Key{Workspace: workspace, Digest: info.Digest})
	}
	if err != nil {
		_ = s.root.Remove(tmp) // otherwise Open will
		if isFull(err) {
			err = artifact.Full("a file could not be written completely")
		}
		return artifact.Info{}, err
	}
	return info, nil
}

// write writes the content of r to a file and syncs it.
func (s *Store) write(ctx context.Context, name string, r io.Reader) (artifact.Info, error) {
	f, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return artifact.Info{}, fmt.Errorf("artifacts: %w", err)
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(&spaceChecker{store: s}, f, h), io.LimitReader(contextReader{ctx, r}, s.max+1))
	if err == nil && n > s.max {
		err = artifact.TooLarge(s.max)
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return artifact.Info{}, err
	}
	return artifact.Info{Digest: artifact.DigestFrom(h), Size: n}, nil
}

// commit renames a finished file to its final path.
func (s *Store) commit(tmp string, k artifact.Key) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := pathOf(k)
	used, err := s.usageWith(tmp, at, k.Workspace)
	if err != nil {
		return err
	}
	if err := s.mkdir(path.Dir(at)); err != nil {
		return fmt.Errorf("artifacts: %w", err)
	}
	now := s.now()
	if err := s.root.Chtimes(tmp, now, now); err != nil {
		return fmt.Errorf("artifacts: %w", err)
	}
	if err := s.root.Rename(tmp, at); err != nil {
		return fmt.Errorf("artifacts: %w", err)
	}
	s.used[k.Workspace] = used
	return s.sync(path.Dir(at))
}

// mkdir creates a directory with its parents, and syncs their entries.
func (s *Store) mkdir(dir string) error {
	err := s.root.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrNotExist) {
		if err := s.mkdir(path.Dir(dir)); err != nil {
			return err
		}
		err = s.root.Mkdir(dir, 0o700)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.sync(path.Dir(dir))
}

// sync syncs the entries of a directory.
func (s *Store) sync(dir string) error {
	d, err := s.root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Get implements [artifact.Store].
func (s *Store) Get(ctx context.Context, k artifact.Key) (io.ReadCloser, artifact.Info, error) {
	if err := k.Check(); err != nil {
		return nil, artifact.Info{}, err
	}
	f, err := s.root.Open(pathOf(k))
	if err != nil {
		return nil, artifact.Info{}, missing(k, err)
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("%w: %s is not a file", artifact.ErrCorrupt, k.Digest)
	}
	if err != nil {
		return nil, artifact.Info{}, errors.Join(err, f.Close())
	}
	body := struct {
		io.Reader
		io.Closer
	}{contextReader{ctx, f}, f}
	return artifact.Verified(body, k.Digest), artifact.Info{Digest: k.Digest, Size: st.Size()}, nil
}

// Touch implements [artifact.Store].
func (s *Store) Touch(_ context.Context, k artifact.Key) (artifact.Info, error) {
	if err := k.Check(); err != nil {
		return artifact.Info{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if err := s.root.Chtimes(pathOf(k), now, now); err != nil {
		return artifact.Info{}, missing(k, err)
	}
	st, err := s.root.Stat(pathOf(k))
	if err != nil {
		return artifact.Info{}, missing(k, err)
	}
	return artifact.Info{Digest: k.Digest, Size: st.Size()}, nil
}

// Sweep implements [artifact.Store].
func (s *Store) Sweep(ctx context.Context, before time.Time, keep func(artifact.Key) (bool, error)) (artifact.Swept, error) {
	var done artifact.Swept
	err := fs.WalkDir(s.root.FS(), data, func(name string, d fs.DirEntry, err error) error {
		if err := errors.Join(err, ctx.Err()); err != nil || d.IsDir() {
			return err
		}
		k, ok := keyOf(name)
		if !ok {
			return nil // a foreign file: ignore it
		}
		kept, err := s.tooYoung(name, before)
		if err == nil && !kept {
			kept, err = keep(k)
		}
		freed := int64(0)
		if err == nil && !kept {
			kept, freed, err = s.remove(name, k.Workspace, before)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // another sweep was first
		case err != nil:
			return err
		case kept:
			done.Kept++
		default:
			done.Deleted++
			done.Freed += freed
		}
		return nil
	})
	if err != nil {
		return done, fmt.Errorf("artifacts: sweep: %w", err)
	}
	return done, nil
}

// tooYoung reports whether a file is too young to be swept.
func (s *Store) tooYoung(name string, before time.Time) (bool, error) {
	st, err := s.root.Stat(name)
	if err != nil {
		return false, err
	}
	return !st.ModTime().Before(before), nil
}

// remove deletes a file unless it was put or touched while keep was called.
func (s *Store) remove(name, workspace string, before time.Time) (kept bool, freed int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, err := s.root.Stat(name)
	if err != nil {
		return false, 0, err
	}
	if !st.ModTime().Before(before) {
		return true, 0, nil
	}
	if err := s.root.Remove(name); err != nil {
		return false, 0, err
	}
	used := s.used[workspace]
	s.used[workspace] = artifact.Quota{Bytes: used.Bytes - st.Size(), Count: used.Count - 1}
	return false, st.Size(), nil
}

// Close implements [artifact.Store].
func (s *Store) Close() error { return s.root.Close() }

// pathOf returns the path of an artifact. The key was checked, so that no part of it can lead elsewhere.
func pathOf(k artifact.Key) string {
	h := k.Digest.Hex()
	return path.Join(data, k.Workspace, h[:2], h)
}

// PathOf returns the path of an artifact in the directory of a store; false if the key is not valid.
func PathOf(k artifact.Key) (string, bool) {
	if k.Check() != nil {
		return "", false
	}
	return pathOf(k), true
}

// keyOf returns the artifact that is stored at a path; false if none can be.
func keyOf(name string) (artifact.Key, bool) {
	k := artifact.Key{Workspace: path.Base(path.Dir(path.Dir(name))), Digest: artifact.Digest("sha256:" + path.Base(name))}
	return k, k.Check() == nil && pathOf(k) == name
}

func missing(k artifact.Key, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return artifact.NotFound(k)
	}
	return fmt.Errorf("artifacts: %w", err)
}

// contextReader is a reader that fails when its context ends.
type contextReader struct {
	ctx context.Context //nolint:containedctx // lives as long as one call
	r   io.Reader
}

func (c contextReader) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(b)
}
