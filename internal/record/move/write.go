package move

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/workspace"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// Source is what moves.
type Source struct {
	Begin  Begin
	Sent   workspace.Sent
	Proof  []byte // the text of the proof of the entry that has Sent
	Record proof.Record
	// Files are the digests of the artifacts, sorted, and Open opens one.
	Files []string
	Open  func(ctx context.Context, digest string) (io.ReadCloser, int64, error)
}

type writer struct {
	tar  *tar.Writer
	made time.Time
}

// Write writes a file to w. Errors: ErrDiffers if the record does not have what was counted, ErrSealed, and those of the record, the artifacts and w.
func Write(ctx context.Context, w io.Writer, src Source) error {
	src.Begin.Format = FormatVersion
	text, err := json.Marshal(src.Begin)
	if err != nil {
		return err
	}
	out := writer{tar.NewWriter(w), src.Begin.Made}
	if err := out.member(beginName, append(text, '\n')); err != nil {
		return err
	}
	if err := out.member(proofName, src.Proof); err != nil {
		return err
	}
	counted, err := out.entries(ctx, src)
	if err != nil {
		return err
	}
	if counted.Size() != src.Sent.Entries || counted.Root().String() != src.Sent.Root || filesRoot(src.Files) != src.Sent.FilesRoot {
		return fmt.Errorf("%w: the record does not have what it says that the workspace has", ErrDiffers)
	}
	for _, d := range src.Files {
		if err := out.file(ctx, d, src); err != nil {
			return err
		}
	}
	return out.tar.Close()
}

// Each calls fn with the entries that move with a workspace up to a position.
func Each(ctx context.Context, record proof.Record, name string, through ledger.Position, fn func(*ledger.Entry) error) (*Selection, error) {
	s := Select(name)
	err := ledger.Through(ctx, record, 0, through, func(e *ledger.Entry) error {
		moves, err := s.Add(e)
		if err == nil && moves {
			err = fn(e)
		}
		return err
	})
	return s, err
}

func (w *writer) entries(ctx context.Context, src Source) (*Selection, error) {
	var chunk bytes.Buffer
	first := ledger.Position(0)
	flush := func() error {
		if chunk.Len() == 0 {
			return nil
		}
		defer chunk.Reset()
		return w.chunk(first, chunk.Bytes())
	}
	s, err := Each(ctx, src.Record, src.Sent.Name, ledger.Position(src.Sent.Through), func(e *ledger.Entry) error {
		b, err := e.Encode()
		if err != nil {
			return fmt.Errorf("position %d: %w", e.Position, err)
		}
		if chunk.Len() == 0 {
			first = e.Position
		}
		chunk.Write(binary.AppendUvarint(binary.AppendUvarint(nil, uint64(e.Position)), uint64(len(b))))
		chunk.Write(b)
		if chunk.Len() < maxChunk {
			return nil
		}
		return flush()
	})
	if err != nil {
		return s, err
	}
	return s, flush()
}

// chunk writes a member with entries.
func (w *writer) chunk(first ledger.Position, raw []byte) error {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if _, err := z.Write(raw); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return w.member(fmt.Sprintf("%s%d", entriesDir, first), b.Bytes())
}

func (w *writer) member(name string, b []byte) error {
	if err := w.header(name, int64(len(b))); err != nil {
		return err
	}
	_, err := w.tar.Write(b)
	return err
}

func (w *writer) header(name string, size int64) error {
	return w.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: w.made.Truncate(time.Second), Format: tar.FormatPAX})
}

// file writes an artifact.
func (w *writer) file(ctx context.Context, digest string, src Source) error {
	r, size, err := src.Open(ctx, digest)
	if err != nil {
		return err
	}
	defer r.Close() // read only
	if err := w.header(contentDir+digest, size); err != nil {
		return err
	}
	_, err = io.Copy(w.tar, r)
	return err
}
