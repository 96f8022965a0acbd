package segment

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/trapezehq/trapeze/internal/record/entrytar"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// FormatVersion is the version of the format of segments.
const FormatVersion = 1

// Begin is the first member of a segment.
type Begin struct {
	Format int             `json:"format"`
	Log    string          `json:"log"` // its name, as in its checkpoints
	Made   time.Time       `json:"made"`
	First  ledger.Position `json:"first"`
	Last   ledger.Position `json:"last"`
	// Before are the roots of the complete subtrees of the tree before First, the largest first, and Root is the root of the tree at Last.
	Before []proof.Hash `json:"before"`
	Root   proof.Hash   `json:"root"`
	// Checkpoint is a signed note (c2sp.org/tlog-checkpoint) of the tree at or after Last, and Consistency the proof that this tree continues that at Last
	// (RFC 6962, section 2.1.2). PublicKeys verify the note, one in each line.
	Checkpoint  string       `json:"checkpoint"`
	Consistency []proof.Hash `json:"consistency"`
	PublicKeys  string       `json:"public_keys"`
}

// names are the names of segments.
var names = regexp.MustCompile(`^[1-9][0-9]{0,18}-[1-9][0-9]{0,18}\.segment$`)

// Errors of segments.
var (
	// ErrFormat: it is not a segment, or one of a newer version.
	ErrFormat = errors.New("segment: not a segment that this version can read")
	// ErrDiffers: what it has is not what was signed.
	ErrDiffers = errors.New("segment: it does not verify")
)

const (
	beginName = "begin.json"
	endName   = "end.sha256"
	maxBegin  = 1 << 20
	chunkSize = 256 << 10 // bytes of the entries of one member, before the last: what is read for one entry
	maxChunk  = chunkSize + 2*ledger.MaxEntrySize
	readPage  = 64 // entries that are read at once: each may have 2 MiB
)

// Source is what a segment is made of.
type Source struct {
	Record      proof.Record
	Stored      tlog.HashReader // the stored tree
	First, Last ledger.Position
	Signed      proof.Checkpoint // at or after Last, with its note and the keys that verify it
	Note, Keys  string
	Made        time.Time
}

// Write writes a segment to w. Errors: ErrDiffers if the entries are not those of the stored tree, and those of the record and w.
func Write(ctx context.Context, w io.Writer, src Source) (Begin, error) {
	b := Begin{Format: FormatVersion, Log: src.Signed.Origin, Made: src.Made, First: src.First, Last: src.Last, Checkpoint: src.Note, PublicKeys: src.Keys}
	tree, err := proof.LoadTree(int64(src.First)-1, src.Stored) //nolint:gosec // a position
	if err != nil {
		return b, err
	}
	b.Before = tree.Edge()
	after, err := proof.LoadTree(int64(src.Last), src.Stored) //nolint:gosec // a position
	if err != nil {
		return b, err
	}
	b.Root = after.Root()
	if b.Consistency, err = tlog.ProveTree(src.Signed.Size, int64(src.Last), src.Stored); err != nil { //nolint:gosec // a position
		return b, err
	}
	sum := sha256.New()
	out := newWriter(io.MultiWriter(w, sum), src.Made)
	text, err := json.Marshal(b)
	if err == nil {
		err = out.Member(beginName, append(text, '\n'))
	}
	if err == nil {
		err = writeEntries(ctx, out, src, tree)
	}
	if err != nil {
		return b, err
	}
	if tree.Root() != b.Root {
		return b, fmt.Errorf("%w: the entries from position %d to %d are not those of the stored tree", ErrDiffers, b.First, b.Last)
	}
	if err := out.Flush(); err != nil { // the padding of the last member, which the sum is of
		return b, err
	}
	_, err = w.Write(end(sum.Sum(nil), src.Made))
	return b, err
}

func newWriter(w io.Writer, made time.Time) *entrytar.Writer {
	return entrytar.NewWriter(w, made, chunkSize, gzip.DefaultCompression)
}

// endSize is the length of what [end] returns: the header of the member, its content, and the end of the archive, in blocks.
const endSize = 4 * 512

// end is the end of a segment, whose bytes before have a SHA-256.
func end(sum []byte, made time.Time) []byte {
	var b bytes.Buffer
	w := newWriter(&b, made)
	_ = errors.Join(w.Member(endName, append(hex.AppendEncode(nil, sum), '\n')), w.Close()) // a buffer has no errors
	return b.Bytes()
}

// writeEntries writes the entries, and appends them to the tree.
func writeEntries(ctx context.Context, w *entrytar.Writer, src Source, tree *proof.Tree) error {
	for after := src.First - 1; after < src.Last; {
		list, err := ledger.Page(ctx, src.Record, after, int(min(readPage, src.Last-after))) //nolint:gosec // small
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return fmt.Errorf("%w: the record ends at position %d", ErrDiffers, after)
		}
		for _, e := range list {
			if e.Position != after+1 {
				return fmt.Errorf("%w: the record has no entry at position %d", ErrDiffers, after+1)
			}
			after = e.Position
			b := e.AppendStored(nil)
			tree.Append(tlog.RecordHash(b), nil)
			if err := w.Entry(e.Position, b); err != nil {
				return err
			}
		}
	}
	return w.EndEntries()
}

// member is what a read finds next in a segment.
type member struct {
	name   string
	offset int64 // of its content
	size   int64
}

// list reads the names of the members, the first of which is the beginning.
func list(r io.ReadSeeker) (Begin, []member, error) {
	var b Begin
	var out []member
	t := tar.NewReader(r)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return b, nil, fmt.Errorf("%w: it is cut off", ErrFormat)
		}
		if err != nil {
			return b, nil, fmt.Errorf("%w: %w", ErrFormat, err)
		}
		if h.Name == endName && len(out) > 0 {
			return b, out, nil
		}
		if b.Format == 0 {
			if b, err = readBegin(h, t); err != nil {
				return b, nil, err
			}
			continue
		}
		at, err := r.Seek(0, io.SeekCurrent)
		if err != nil {
			return b, nil, err
		}
		out = append(out, member{h.Name, at, h.Size})
	}
}

func readBegin(h *tar.Header, from io.Reader) (b Begin, err error) {
	if h.Name != beginName || h.Size > maxBegin {
		return b, fmt.Errorf("%w: it does not begin with %s", ErrFormat, beginName)
	}
	d := json.NewDecoder(from)
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		return b, fmt.Errorf("%w: %s: %w", ErrFormat, beginName, err)
	}
	if b.Format != FormatVersion || b.First == 0 || b.Last < b.First {
		return b, fmt.Errorf("%w: %s has format %d, with entries %d to %d", ErrFormat, beginName, b.Format, b.First, b.Last)
	}
	return b, nil
}

// read calls fn for each entry of a member.
func (m member) read(from io.ReaderAt, fn func(at ledger.Position, b []byte) error) error {
	list, err := entrytar.Read(io.NewSectionReader(from, m.offset, m.size), maxChunk)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDiffers, m.name, err)
	}
	for _, e := range list {
		if err := fn(e.At, e.Bytes); err != nil {
			return err
		}
	}
	return nil
}

// Is reports whether a file begins as a segment does. It may be damaged.
func Is(r io.ReaderAt) bool {
	h, err := tar.NewReader(io.NewSectionReader(r, 0, 64<<10)).Next()
	if err != nil {
		return false
	}
	return h.Name == beginName
}

// File is a segment to verify.
type File interface {
	io.ReaderAt
	io.ReadSeeker
}

// checkWhole compares the bytes of a segment with the sum at its end: what is unused in the archive and in what is compressed is in no entry.
func checkWhole(f io.ReadSeeker, made time.Time) error {
	size, err := f.Seek(-endSize, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("%w: it is cut off: %w", ErrDiffers, err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	sum := sha256.New()
	if _, err := io.CopyN(sum, f, size); err != nil {
		return err
	}
	last, err := io.ReadAll(f)
	if err == nil && !bytes.Equal(last, end(sum.Sum(nil), made)) {
		err = fmt.Errorf("%w: a byte beside its entries was changed: its SHA-256 is not the one at its end", ErrDiffers)
	}
	return err
}

// Verify verifies a segment with public keys of its log. It returns its beginning and its checkpoint. Errors: ErrFormat, ErrDiffers, those of
// [proof.OpenCheckpoint] and of the reader.
func Verify(ctx context.Context, f File, keys proof.Keys) (Begin, proof.Checkpoint, error) {
	b, members, err := list(f)
	if err != nil {
		return b, proof.Checkpoint{}, err
	}
	c, err := proof.OpenCheckpoint([]byte(b.Checkpoint), keys)
	if err != nil {
		return b, c, err
	}
	tree, err := proof.NewTree(int64(b.First)-1, b.Before) //nolint:gosec // a position
	if err != nil {
		return b, c, fmt.Errorf("%w: %w", ErrDiffers, err)
	}
	for _, m := range members {
		err := m.read(f, func(at ledger.Position, text []byte) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if want := ledger.Position(tree.Size()) + 1; at != want || at > b.Last { //nolint:gosec // never negative
				return fmt.Errorf("%w: position %d follows %d", ErrDiffers, at, want-1)
			}
			e, err := ledger.Decode(text)
			if err != nil {
				return fmt.Errorf("%w: position %d: %w", ErrDiffers, at, err)
			}
			if what := proof.CheckContent(&e); what != "" {
				return fmt.Errorf("%w: position %d: %s", ErrDiffers, at, what)
			}
			tree.Append(tlog.RecordHash(text), nil)
			return nil
		})
		if err != nil {
			return b, c, err
		}
	}
	switch {
	case ledger.Position(tree.Size()) != b.Last: //nolint:gosec // never negative
		return b, c, fmt.Errorf("%w: it ends at position %d, before %d: entries are missing", ErrDiffers, tree.Size(), b.Last)
	case tree.Root() != b.Root:
		return b, c, fmt.Errorf("%w: its entries do not have its root", ErrDiffers)
	case b.Log != c.Origin:
		return b, c, fmt.Errorf("%w: its checkpoint is of %s, and it is of %s", ErrDiffers, c.Origin, b.Log)
	}
	if err := tlog.CheckTree(b.Consistency, c.Size, c.Root, int64(b.Last), b.Root); err != nil { //nolint:gosec // a position
		return b, c, fmt.Errorf("%w: its entries are not in the tree of its checkpoint: %w", ErrDiffers, err)
	}
	return b, c, checkWhole(f, b.Made)
}
