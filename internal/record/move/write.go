package move

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/trapezehq/trapeze/internal/domain/workspace"
	"github.com/trapezehq/trapeze/internal/record/entrytar"
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

// Write writes a file to w. Errors: ErrDiffers if the record does not have what was counted, ErrSealed, and those of the record, the artifacts and w.
func Write(ctx context.Context, w io.Writer, src Source) error {
	src.Begin.Format = FormatVersion
	text, err := json.Marshal(src.Begin)
	if err != nil {
		return err
	}
	out := entrytar.NewWriter(w, src.Begin.Made, maxChunk, gzip.BestSpeed)
	if err := out.Member(beginName, append(text, '\n')); err != nil {
		return err
	}
	if err := out.Member(proofName, src.Proof); err != nil {
		return err
	}
	counted, err := writeEntries(ctx, out, src)
	if err != nil {
		return err
	}
	if counted.Size() != src.Sent.Entries || counted.Root().String() != src.Sent.Root || filesRoot(src.Files) != src.Sent.FilesRoot {
		return fmt.Errorf("%w: the record does not have what it says that the workspace has", ErrDiffers)
	}
	for _, d := range src.Files {
		if err := writeFile(ctx, out, d, src); err != nil {
			return err
		}
	}
	return out.Close()
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

func writeEntries(ctx context.Context, w *entrytar.Writer, src Source) (*Selection, error) {
	s, err := Each(ctx, src.Record, src.Sent.Name, ledger.Position(src.Sent.Through), func(e *ledger.Entry) error {
		b, err := e.Encode()
		if err != nil {
			return fmt.Errorf("position %d: %w", e.Position, err)
		}
		return w.Entry(e.Position, b)
	})
	if err != nil {
		return s, err
	}
	return s, w.EndEntries()
}

// writeFile writes an artifact.
func writeFile(ctx context.Context, w *entrytar.Writer, digest string, src Source) error {
	r, size, err := src.Open(ctx, digest)
	if err != nil {
		return err
	}
	defer r.Close() // read only
	if err := w.Header(contentDir+digest, size); err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return err
}
