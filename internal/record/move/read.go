package move

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/workspace"
	"github.com/trapezehq/trapeze/internal/record/entrytar"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// Visitor gets what a file has.
type Visitor interface {
	Entry(ctx context.Context, e ledger.Entry) error
	// File gets an artifact. It must read all of it.
	File(ctx context.Context, digest string, r io.Reader) error
}

// File is a file that is read.
type File struct {
	Begin Begin
	Sent  workspace.Sent
	// Checkpoint is the signed note that the proof of Sent has.
	Checkpoint string

	tar      *tar.Reader
	count    *Selection
	versions map[ledger.Stream]uint64
	last     ledger.Position
	files    []string
}

// Read verifies a file and gives a visitor what it has; nil: it verifies alone. keys are the public keys of the source, one in each line, that the caller has from
// elsewhere; empty: those in the file, which show that it is whole and not who made it. Errors: ErrFormat, ErrCut, ErrDiffers, ErrSealed, and those of r and the visitor.
func Read(ctx context.Context, r io.Reader, keys string, to Visitor) (*File, error) {
	from := &source{Reader: r}
	f, err := open(from, keys)
	for err == nil {
		var h *tar.Header
		if h, err = f.tar.Next(); err == nil {
			err = errors.Join(ctx.Err(), f.member(ctx, h, to))
		} else if errors.Is(err, io.EOF) {
			err = f.whole()
			return f, err
		}
	}
	return f, from.explain(err)
}

// source is what a file is read from.
type source struct {
	io.Reader
	failed error
}

func (s *source) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		s.failed = err
	}
	return n, err
}

// explain returns why a file was not read to its end.
func (s *source) explain(err error) error {
	switch {
	case s.failed != nil:
		return s.failed
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return ErrCut
	case errors.Is(err, tar.ErrHeader):
		return fmt.Errorf("%w: %w", ErrDiffers, err)
	}
	return err
}

// whole compares what was read with what was signed.
func (f *File) whole() error {
	switch n := f.count.Size(); {
	case n < f.Sent.Entries || len(f.files) < f.Sent.Files:
		return ErrCut
	case n != f.Sent.Entries || f.count.Root().String() != f.Sent.Root:
		return fmt.Errorf("%w: its entries are not those that the source signed: one of them was changed", ErrDiffers)
	case len(f.files) != f.Sent.Files || filesRoot(f.files) != f.Sent.FilesRoot:
		return fmt.Errorf("%w: its artifacts are not those that the source signed", ErrDiffers)
	}
	return nil
}

// open reads what comes before the entries.
func open(r io.Reader, keys string) (*File, error) {
	f := &File{tar: tar.NewReader(r), versions: map[ledger.Stream]uint64{}}
	b, err := f.first(beginName, maxBegin)
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(b, &f.Begin); err != nil {
		return f, fmt.Errorf("%w: %s: %w", ErrFormat, beginName, err)
	}
	if f.Begin.Format != FormatVersion {
		return f, fmt.Errorf("%w: it has format %d, and this version reads format %d", ErrFormat, f.Begin.Format, FormatVersion)
	}
	if keys == "" {
		keys = f.Begin.PublicKeys
	}
	if b, err = f.first(proofName, maxProof); err != nil {
		return f, err
	}
	if err := f.prove(b, keys); err != nil {
		return f, fmt.Errorf("%w: %w", ErrDiffers, err)
	}
	f.count = Select(f.Sent.Name)
	return f, nil
}

// first reads a member that must come next.
func (f *File) first(name string, most int64) ([]byte, error) {
	h, err := f.tar.Next()
	if err != nil || h.Name != name {
		if err == nil || errors.Is(err, tar.ErrHeader) {
			err = fmt.Errorf("%w: it has no %s", ErrFormat, name)
		}
		return nil, err
	}
	return limited(f.tar, most, name)
}

// limited reads all of r, at most so many bytes.
func limited(r io.Reader, most int64, what string) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("%w: %s has more than %d bytes", ErrFormat, what, most)
	}
	return b, err
}

// prove verifies the proof of the entry that says what was sent, and reads that.
func (f *File) prove(text []byte, keys string) error {
	known, err := proof.ParseKeys(keys)
	if err != nil {
		return err
	}
	list, err := proof.ParseInclusions(text)
	if err != nil {
		return err
	}
	if len(list) != 1 {
		return fmt.Errorf("it has %d proofs", len(list))
	}
	signed, err := proof.OpenCheckpoint(list[0].Checkpoint, known)
	if err != nil {
		return err
	}
	if signed.Origin != f.Begin.Log {
		return fmt.Errorf("it is of %s, and is signed by %s", f.Begin.Log, signed.Origin)
	}
	if err := list[0].Check(signed); err != nil {
		return err
	}
	f.Checkpoint = string(list[0].Checkpoint)
	e, err := ledger.Decode(list[0].Entry)
	if err != nil {
		return err
	}
	for _, ev := range e.Events {
		if ev.Name != f.Sent.EventName() {
			continue
		}
		if err := json.Unmarshal(ev.Data, &f.Sent); err != nil {
			return err
		}
		if of := workspace.StreamKind; string(e.Stream) != "default/"+of+"/"+f.Sent.Name {
			break
		}
		return workspace.CheckName(f.Sent.Name)
	}
	return errors.New("the entry that is proven does not say what moves")
}

func (f *File) member(ctx context.Context, h *tar.Header, to Visitor) error {
	if digest, is := strings.CutPrefix(h.Name, contentDir); is && h.Typeflag == tar.TypeReg {
		return f.file(ctx, digest, to)
	}
	if !strings.HasPrefix(h.Name, entrytar.Dir) || h.Typeflag != tar.TypeReg || len(f.files) > 0 {
		return fmt.Errorf("%w: it has a member %.80q", ErrFormat, h.Name)
	}
	list, err := entrytar.Read(f.tar, maxChunkRead)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDiffers, h.Name, err)
	}
	for _, e := range list {
		if err := f.entry(ctx, e.At, e.Bytes, to); err != nil {
			return err
		}
	}
	return nil
}

// entry checks that an entry is the next one of its stream, and one of those that may move with the workspace.
func (f *File) entry(ctx context.Context, at ledger.Position, b []byte, to Visitor) error {
	if at <= f.last || uint64(at) > f.Sent.Through {
		return fmt.Errorf("%w: position %d follows %d", ErrDiffers, at, f.last)
	}
	e, err := ledger.Decode(b)
	if err != nil {
		return fmt.Errorf("%w: position %d: %w", ErrDiffers, at, err)
	}
	e.Position, f.last = at, at
	moves, err := f.count.Add(&e)
	if err != nil {
		return err
	}
	_, kind, _ := e.Stream.Parts()
	next := f.versions[e.Stream] + 1
	if kind == accessKind {
		next = 0
	}
	if !moves || e.Version != next {
		return fmt.Errorf("%w: the entry at position %d, version %d of %s, is not the next one of a stream of the workspace", ErrDiffers, at, e.Version, e.Stream)
	}
	f.versions[e.Stream] = next
	if to == nil {
		return nil
	}
	return to.Entry(ctx, e)
}

func (f *File) file(ctx context.Context, digest string, to Visitor) error {
	sum := sha256.New()
	from := io.TeeReader(f.tar, sum)
	if to != nil {
		if err := to.File(ctx, digest, from); err != nil {
			return err
		}
	}
	if _, err := io.Copy(io.Discard, from); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != digest {
		return fmt.Errorf("%w: the artifact %.80q has the digest %s", ErrDiffers, digest, got)
	}
	f.files = append(f.files, digest)
	return nil
}
