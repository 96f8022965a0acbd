package backup

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/trapezehq/trapeze/internal/record/entrytar"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// Source is what is copied.
type Source struct {
	Kind   string // [Entries] or [Secrets]
	Log    string // its name
	Record proof.Record
	// Until is the position of the last entry to copy, and Signed the checkpoint to compare with, at or before it, with its signed note. PublicKeys
	// verify it.
	Until      ledger.Position
	Signed     proof.Checkpoint
	Note       string
	PublicKeys string
	// Key is the private key of the log, which signs the end; empty, damaged or of another log: the backup is not signed.
	Key string
	// Stored is the stored tree, for the root at which an incremental backup begins.
	Stored tlog.HashReader
	// Content lists the files whose names are their digests, and Settings the others. They are listed after Until was determined, so that everything
	// that entries refer to is there. A file that is gone when it is opened is omitted: nothing refers to it any more.
	Content, Settings []File
}

// File is a file of a source.
type File struct {
	Name string // with slashes
	Open func() (io.ReadCloser, int64, error)
}

// Options of a backup. The zero value makes a full one.
type Options struct {
	// Base is the backup that this one follows; nil: this is a full one.
	Base *Base
	Made time.Time
	// Progress is called after each part with the position up to which entries are written; nil: nobody is told.
	Progress func(at ledger.Position)
}

// Base is the backup that another one follows.
type Base struct {
	Begin Begin
	End   End
}

type writer struct {
	tar *entrytar.Writer
	o   Options
	src Source
	end End
}

// Write writes a backup to w. Errors: ErrOrder if the base is not one of this record, ErrDiffers if the entries do not have the root of
// the checkpoint, and those of the record, the files and w.
func Write(ctx context.Context, w io.Writer, src Source, o Options) (End, error) {
	b := writer{tar: entrytar.NewWriter(w, o.Made, maxChunk, gzip.BestSpeed), o: o, src: src, end: End{Content: []string{}, Settings: map[string]string{}}}
	tree, err := b.begin()
	if err != nil {
		return End{}, err
	}
	if src.Kind == Entries {
		if err := b.entries(ctx, tree); err != nil {
			return End{}, err
		}
	}
	if err := b.content(ctx); err != nil {
		return End{}, err
	}
	for _, f := range src.Settings {
		sum, err := b.file(ctx, settingsDir, f)
		if err != nil {
			return End{}, err
		}
		if sum != "" {
			b.end.Settings[f.Name] = sum
		}
	}
	b.end.Position, b.end.Root = ledger.Position(tree.Size()), tree.Root() //nolint:gosec // never negative
	if err := b.last(); err != nil {
		return End{}, err
	}
	return b.end, b.tar.Close()
}

// last writes the end, and the signature on it.
func (w *writer) last() error {
	text, err := w.json(endName, w.end)
	if err != nil {
		return err
	}
	signed, err := sign(w.src.Key, w.src.Log, text)
	if err != nil || signed == nil {
		return err
	}
	w.end.Signed = true
	return w.tar.Member(noteName, signed)
}

// begin writes the first member, and returns the tree at which the backup begins.
func (w *writer) begin() (*proof.Tree, error) {
	begin := Begin{Format: FormatVersion, Kind: w.src.Kind, Log: w.src.Log, Made: w.o.Made, Checkpoint: w.src.Note, PublicKeys: w.src.PublicKeys}
	tree := new(proof.Tree)
	if base := w.o.Base; base != nil {
		if base.Begin.Log != w.src.Log || base.Begin.Kind != Entries {
			return nil, fmt.Errorf("%w: that is one of %s, and this record is %s", ErrOrder, base.Begin.Log, w.src.Log)
		}
		if base.End.Position > w.src.Until {
			return nil, fmt.Errorf("%w: that ends at position %d, and this record at %d: entries are missing, or the record was restored from an older backup",
				ErrOrder, base.End.Position, w.src.Until)
		}
		var err error
		if tree, err = proof.LoadTree(int64(base.End.Position), w.src.Stored); err != nil { //nolint:gosec // it is at most Until
			return nil, err
		}
		if tree.Root() != base.End.Root {
			return nil, fmt.Errorf("%w: this record had other entries at position %d: it is a fork, or was restored from an older backup", ErrOrder, base.End.Position)
		}
		begin.After = base.End.Position
		w.end.Content = slices.Clone(base.End.Content)
	}
	begin.Root = tree.Root()
	text, err := w.json(beginName, begin)
	w.end.Begun = digest(text)
	return tree, err
}

// entries writes those after the size of the tree, and appends them to it.
func (w *writer) entries(ctx context.Context, tree *proof.Tree) error {
	for after := ledger.Position(tree.Size()); after < w.src.Until; { //nolint:gosec // never negative
		list, err := ledger.Page(ctx, w.src.Record, after, readPage)
		if err != nil {
			return fmt.Errorf("backup: %w", err)
		}
		if len(list) == 0 {
			return fmt.Errorf("%w: the record ends at position %d", ErrDiffers, after)
		}
		for _, e := range list {
			if e.Position > w.src.Until {
				break
			}
			b, err := e.Encode()
			if err != nil {
				return fmt.Errorf("backup: position %d: %w", e.Position, err)
			}
			if err := extend(tree, e.Position, b, w.src.Signed, nil); err != nil {
				return err
			}
			if err := w.tar.Entry(e.Position, b); err != nil {
				return err
			}
			w.end.Entries++
		}
		after = list[len(list)-1].Position
		if w.o.Progress != nil {
			w.o.Progress(min(after, w.src.Until))
		}
	}
	return w.tar.EndEntries()
}

// readPage is how many entries are read at once. Each may have 2 MiB.
const readPage = 64

// extend appends an entry to the tree, after leaves for the positions before it that have none, and compares the root with that of a checkpoint. keep gets
// the hashes to store.
func extend(tree *proof.Tree, at ledger.Position, b []byte, signed proof.Checkpoint, keep func([]proof.Hash)) error {
	for ledger.Position(tree.Size()) < at { //nolint:gosec // never negative
		leaf := proof.Gap
		if ledger.Position(tree.Size())+1 == at { //nolint:gosec // as above
			leaf = tlog.RecordHash(b)
		}
		hashes := tree.Append(leaf, nil)
		if keep != nil {
			keep(hashes)
		}
		if tree.Size() == signed.Size && tree.Root() != signed.Root {
			return fmt.Errorf("%w: the entries up to position %d do not have the root of the checkpoint: one of them was changed", ErrDiffers, signed.Size)
		}
	}
	return nil
}

func (w *writer) json(name string, v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	b = append(b, '\n')
	return b, w.tar.Member(name, b)
}

// content writes the content files that the base does not have.
func (w *writer) content(ctx context.Context) error {
	had := map[string]bool{}
	for _, name := range w.end.Content {
		had[name] = true
	}
	for _, f := range w.src.Content {
		if had[f.Name] {
			continue
		}
		sum, err := digestOf(f)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("backup: %w", err)
		}
		if sum != path.Base(f.Name) {
			w.end.Damaged = append(w.end.Damaged, f.Name)
			continue
		}
		if sum, err = w.file(ctx, contentDir, f); err != nil {
			return err
		}
		switch sum {
		case "":
		case path.Base(f.Name):
			w.end.Content = append(w.end.Content, f.Name)
		default:
			return fmt.Errorf("%w: the file %s changed while it was read", ErrDiffers, f.Name)
		}
	}
	slices.Sort(w.end.Content)
	return nil
}

// file writes a file and returns its digest; "": it is gone.
func (w *writer) file(ctx context.Context, dir string, f File) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	r, size, err := f.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("backup: %w", err)
	}
	sum := sha256.New()
	if err = w.tar.Header(dir+f.Name, size); err == nil {
		_, err = io.CopyN(io.MultiWriter(w.tar, sum), r, size)
	}
	if err = errors.Join(err, r.Close()); err != nil {
		return "", fmt.Errorf("backup: %s: %w", f.Name, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// digestOf reads a file.
func digestOf(f File) (string, error) {
	r, _, err := f.Open()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, r)
	return hex.EncodeToString(sum.Sum(nil)), errors.Join(err, r.Close())
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
