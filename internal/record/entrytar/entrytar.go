package entrytar

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Dir is what the names of members with entries begin with.
const Dir = "entries/"

// Writer writes an archive.
type Writer struct {
	*tar.Writer
	made  time.Time
	size  int // bytes of entries after which a member ends
	level int // of gzip

	chunk bytes.Buffer
	first ledger.Position // of the chunk
}

// NewWriter returns a writer of an archive whose members were made at a time. A member with entries ends after the entry with which it has size bytes; level is that of gzip.
func NewWriter(w io.Writer, made time.Time, size, level int) *Writer {
	return &Writer{Writer: tar.NewWriter(w), made: made, size: size, level: level}
}

// Member writes a member.
func (w *Writer) Member(name string, b []byte) error {
	if err := w.Header(name, int64(len(b))); err != nil {
		return err
	}
	_, err := w.Write(b)
	return err
}

// Header begins a member of so many bytes, which are written next.
func (w *Writer) Header(name string, size int64) error {
	return w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: w.made.Truncate(time.Second), Format: tar.FormatPAX})
}

// Entry adds an entry, as it is stored. Call [Writer.EndEntries] after the last.
func (w *Writer) Entry(at ledger.Position, stored []byte) error {
	if w.chunk.Len() == 0 {
		w.first = at
	}
	w.chunk.Write(binary.AppendUvarint(binary.AppendUvarint(w.chunk.AvailableBuffer(), uint64(at)), uint64(len(stored))))
	w.chunk.Write(stored)
	if w.chunk.Len() < w.size {
		return nil
	}
	return w.EndEntries()
}

// EndEntries writes the entries that no member has yet.
func (w *Writer) EndEntries() error {
	if w.chunk.Len() == 0 {
		return nil
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, w.level)
	if err != nil {
		return err
	}
	_, err = z.Write(w.chunk.Bytes())
	w.chunk.Reset()
	if err := errors.Join(err, z.Close()); err != nil {
		return err
	}
	return w.Member(fmt.Sprintf("%s%d", Dir, w.first), b.Bytes())
}

// Stored is an entry as it is stored, at its position.
type Stored struct {
	At    ledger.Position
	Bytes []byte
}

// Read reads a member with entries, which has at most so many bytes of them. Errors: those of from, [io.ErrUnexpectedEOF] if it is cut off, and others if it is damaged.
func Read(from io.Reader, most int64) ([]Stored, error) {
	z, err := gzip.NewReader(from)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(z, most+1))
	if err == nil && int64(len(raw)) > most {
		err = fmt.Errorf("it has more than %d bytes", most)
	}
	var list []Stored
	for err == nil && len(raw) > 0 {
		at, n := binary.Uvarint(raw)
		size, k := binary.Uvarint(raw[max(n, 0):])
		if n <= 0 || k <= 0 || size > uint64(len(raw)-n-k) {
			return nil, errors.New("it is damaged")
		}
		end := n + k + int(size) //nolint:gosec // checked
		list = append(list, Stored{ledger.Position(at), raw[n+k : end : end]})
		raw = raw[end:]
	}
	return list, err
}
