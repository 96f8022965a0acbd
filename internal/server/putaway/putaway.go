package putaway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/durable"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/record/proof/segment"
	"github.com/trapezehq/trapeze/internal/record/proof/treefile"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/erasures"
)

// Dir is the directory of the segments that are attached, in the data directory.
const Dir = "segments"

// newSegment is the suffix of a segment until the record says that it was written.
const newSegment = ".new"

// Segment is one that was written.
type Segment struct {
	File   string `json:"file"` // its path
	First  uint64 `json:"first"`
	Last   uint64 `json:"last"`
	Root   string `json:"root"`   // of the tree at Last
	SHA256 string `json:"sha256"` // of the file, hexadecimal
	// Entries is how many of its entries the data directory has no more: those of tasks.
	Entries int `json:"entries"`
	// Next is what keeps the entries after it; empty: the time.
	Next string `json:"next,omitempty"`
}

// Record is the record of a data directory in which no server runs.
type Record struct {
	DataDir string
	Log     *sqlitelog.Log
	Tree    *treefile.Store
	// Closed looks for the part of the record after a position, and before a time, that can be put away.
	Closed func(ctx context.Context, after ledger.Position, before time.Time) (erasures.Closed, error)
	Scrub  func(ctx context.Context) error // writes the database again without its free pages
	Now    func() time.Time
}

func (r Record) dir() string { return filepath.Join(r.DataDir, Dir) }

// PutAway finishes the last segment if that was interrupted, or else makes the next one. step is called before each step that changes something: its error ends it,
// as a crash would.
func (r Record) PutAway(ctx context.Context, before time.Time, step func() error) (out Segment, err error) {
	last, found, err := r.lastSegment(ctx)
	if err != nil {
		return out, err
	}
	if found {
		done, err := r.finishSegment(ctx, last)
		if err != nil || done > 0 { // it was interrupted
			return r.made(last, done, ""), err
		}
	}
	closed, err := r.Closed(ctx, last.Last, before)
	if err != nil {
		return out, err
	}
	if len(closed.Tasks) == 0 {
		why := "no task ended before then"
		if closed.Next != "" {
			why = closed.Next
		}
		return out, refusal.New(refusal.Conflict, "name a later time, or wait", "there is nothing to put away: %s", why)
	}
	var made proof.SegmentWritten
	n := 0
	for _, do := range []func() error{
		func() (err error) { made, err = r.writeSegment(ctx, last.Last+1, closed.Last); return err },
		func() error { return r.recordSegment(ctx, made) },
		func() error { return r.nameSegment(ctx, made) },
		func() (err error) { n, err = r.Log.PutAway(ctx, made.Name(), closed.Tasks); return err },
		func() error { return r.Scrub(ctx) },
	} {
		if err := step(); err != nil {
			return out, err
		}
		if err := do(); err != nil {
			return out, err
		}
	}
	return r.made(made, n, closed.Next), nil
}

func (r Record) made(made proof.SegmentWritten, entries int, next string) Segment {
	return Segment{filepath.Join(r.dir(), made.Name()), uint64(made.First), uint64(made.Last), made.Root, made.SHA256, entries, next}
}

// lastSegment is the newest segment in the record.
func (r Record) lastSegment(ctx context.Context) (last proof.SegmentWritten, found bool, err error) {
	err = stream.Each(ctx, r.Log, proof.SegmentStream, func(e ledger.Entry) error {
		found = true
		return json.Unmarshal(e.Events[0].Data, &last)
	})
	return last, found, err
}

// writeSegment writes a segment beside its name, and verifies it.
func (r Record) writeSegment(ctx context.Context, first, last ledger.Position) (made proof.SegmentWritten, err error) {
	end, err := r.Log.Last(ctx)
	if err != nil {
		return made, err
	}
	signed, note, err := r.Tree.Await(ctx, end)
	if err != nil {
		return made, err
	}
	dir := r.dir()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return made, err
	}
	left, err := filepath.Glob(filepath.Join(dir, "*.segment"+newSegment)) // of a call that ended before the record knew of it
	for _, name := range left {
		err = errors.Join(err, os.Remove(name))
	}
	if err != nil {
		return made, err
	}
	made = proof.SegmentWritten{First: first, Last: last}
	f, err := os.OpenFile(filepath.Join(dir, made.Name()+newSegment), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return made, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b, err := segment.Write(ctx, f, segment.Source{Record: r.Log, Stored: r.Tree, First: first, Last: last, Signed: signed, Note: string(note), Keys: r.Tree.Keys(), Made: r.Now().UTC()})
	if err == nil {
		err = errors.Join(f.Sync(), durable.Sync(dir), durable.Sync(r.DataDir))
	}
	if err != nil {
		return made, err
	}
	keys, err := proof.ParseKeys(r.Tree.Keys())
	if err != nil {
		return made, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return made, err
	}
	if _, _, err = segment.Verify(ctx, f, keys); err != nil {
		return made, err
	}
	made.Root = b.Root.String()
	made.SHA256, err = segment.SumOf(ctx, f.Name())
	return made, err
}

// recordSegment records that a segment was written.
func (r Record) recordSegment(ctx context.Context, made proof.SegmentWritten) error {
	ev, err := ledger.NewCodec(proof.SegmentEvents...).Encode(made)
	if err != nil {
		return err
	}
	e := ledger.Entry{Stream: proof.SegmentStream, Time: r.Now().UTC().Truncate(time.Microsecond), Actor: ledger.Actor{Principal: "system/segments"}, Events: []ledger.Event{ev}}
	_, err = r.Log.Append(ctx, e, ledger.Any)
	return err
}

// nameSegment gives a segment in the record its name. It may be repeated.
func (r Record) nameSegment(ctx context.Context, made proof.SegmentWritten) error {
	path := filepath.Join(r.dir(), made.Name())
	if _, err := os.Stat(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	sum, err := segment.SumOf(ctx, path+newSegment)
	if err != nil {
		return err
	}
	if sum != made.SHA256 {
		return fmt.Errorf("%s is not the file that was written: its SHA-256 is %s, and that in the record %s", path+newSegment, sum, made.SHA256)
	}
	return errors.Join(os.Rename(path+newSegment, path), durable.Sync(filepath.Dir(path)))
}

// finishSegment finishes the newest segment in the record, if that was interrupted, and returns how many entries were put away.
func (r Record) finishSegment(ctx context.Context, made proof.SegmentWritten) (int, error) {
	if err := r.nameSegment(ctx, made); errors.Is(err, fs.ErrNotExist) {
		return 0, nil // it was finished, and is kept elsewhere
	} else if err != nil {
		return 0, err
	}
	list, err := r.tasksIn(ctx, made)
	if err != nil {
		return 0, err
	}
	n, err := r.Log.PutAway(ctx, made.Name(), list)
	if err != nil {
		return n, err
	}
	return n, r.Scrub(ctx) // what was put away may still be in free pages
}

// tasksIn lists the entries of tasks in a segment.
func (r Record) tasksIn(ctx context.Context, made proof.SegmentWritten) (list []ledger.Position, err error) {
	err = ledger.Through(ctx, r.Log, made.First-1, made.Last, func(e *ledger.Entry) error {
		if _, kind, _ := e.Stream.Parts(); kind == ledger.TaskKind {
			list = append(list, e.Position)
		}
		return nil
	})
	return list, err
}
