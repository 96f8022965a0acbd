package segment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/trapezehq/trapeze/internal/record/entrytar"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// Dir reads entries from the segments in directories. One that is added, or taken away, while it is used counts from then on.
type Dir struct {
	paths []string
	mu    sync.Mutex
	open  map[string]*file
}

// NewDir returns the segments in directories, which need not exist. The first one that has a segment is read.
func NewDir(paths ...string) *Dir { return &Dir{paths: paths, open: map[string]*file{}} }

// file is a segment that is open.
type file struct {
	*os.File
	members []member
	firsts  []ledger.Position          // of the members
	cached  int                        // the member whose entries are kept
	entries map[ledger.Position][]byte // of that
}

// maxOpen is how many segments are open at once.
const maxOpen = 16

// Entry returns the bytes of the entry at a position in a segment; nil: the segment is not there. Errors: ErrFormat, ErrDiffers, and those of the file.
func (d *Dir) Entry(name string, at ledger.Position) ([]byte, error) {
	if !names.MatchString(name) {
		return nil, fmt.Errorf("%w: %q is no name of a segment", ErrFormat, name)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := d.file(name)
	if err != nil || f == nil {
		return nil, err
	}
	return f.entry(at)
}

// file returns an open segment; nil: it is not there.
func (d *Dir) file(name string) (*file, error) {
	path := ""
	for _, dir := range d.paths {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			path = filepath.Join(dir, name)
			break
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	f, ok := d.open[name]
	switch {
	case ok && path == "":
		delete(d.open, name)
		return nil, f.Close()
	case ok || path == "":
		return f, nil
	}
	if len(d.open) >= maxOpen {
		if err := d.closeAll(); err != nil {
			return nil, err
		}
	}
	f, err := openFile(path)
	if err == nil {
		d.open[name] = f
	}
	return f, err
}

func openFile(path string) (*file, error) {
	opened, err := os.Open(path) //nolint:gosec // the operator's directory, and a name that was checked
	if err != nil {
		return nil, err
	}
	f := &file{File: opened, cached: -1}
	if _, f.members, err = list(opened); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), opened.Close())
	}
	for _, m := range f.members {
		n, err := strconv.ParseUint(strings.TrimPrefix(m.name, entrytar.Dir), 10, 64)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%w: it has a member %q", ErrFormat, m.name), opened.Close())
		}
		f.firsts = append(f.firsts, ledger.Position(n))
	}
	return f, nil
}

// entry reads the member that has a position, unless it is the last that was read.
func (f *file) entry(at ledger.Position) ([]byte, error) {
	i, found := slices.BinarySearch(f.firsts, at)
	if !found {
		i--
	}
	if i >= 0 && i != f.cached {
		entries := map[ledger.Position][]byte{}
		if err := f.members[i].read(f, func(at ledger.Position, b []byte) error { entries[at] = b; return nil }); err != nil {
			return nil, err
		}
		f.cached, f.entries = i, entries
	}
	if i < 0 || f.entries[at] == nil {
		return nil, fmt.Errorf("%w: it has no entry at position %d", ErrDiffers, at)
	}
	return f.entries[at], nil
}

// Check compares the segments in directories, which need not exist, with what the record says of the segments that were written, and returns what differs.
func Check(ctx context.Context, written []proof.SegmentWritten, dirs ...string) (wrong []string, err error) {
	for _, dir := range dirs {
		list, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return wrong, err
		}
		for _, f := range list {
			if !names.MatchString(f.Name()) {
				continue
			}
			path := filepath.Join(dir, f.Name())
			i := slices.IndexFunc(written, func(s proof.SegmentWritten) bool { return s.Name() == f.Name() })
			if i < 0 {
				wrong = append(wrong, fmt.Sprintf("the segment %s is of another record: no entry of this one says that it was written", path))
				continue
			}
			sum, err := SumOf(ctx, path)
			if err != nil {
				return wrong, err
			}
			if sum != written[i].SHA256 {
				wrong = append(wrong, fmt.Sprintf("the segment %s is damaged, or another file: its SHA-256 is %s, and the one in the record %s; replace it with a copy", path, sum, written[i].SHA256))
			}
		}
	}
	return wrong, nil
}

// SumOf is the SHA-256 of a file, hexadecimal.
func SumOf(ctx context.Context, path string) (string, error) {
	f, err := os.Open(path) //nolint:gosec // the operator's directory
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, f.Close(), ctx.Err())
}

func (d *Dir) closeAll() (err error) {
	for name, f := range d.open {
		err = errors.Join(err, f.Close())
		delete(d.open, name)
	}
	return err
}

// Close closes the files.
func (d *Dir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.closeAll()
}

// IsPutAway reports whether an error is that of a read that came to an entry whose segment is not attached.
func IsPutAway(err error) bool {
	_, away := ledger.AsPutAway(err)
	return away
}
