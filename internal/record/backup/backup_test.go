package backup_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/trapezehq/trapeze/internal/record/backup"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// origin is a record with its tree, its key and its files.
type origin struct {
	ledger.Ledger
	tree   *proof.Tree
	stored hashes
	signer note.Signer
	key    string // private
	keys   string
	files  map[string]string
}

type hashes []proof.Hash

func (h hashes) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	var out []tlog.Hash
	for _, i := range indexes {
		out = append(out, h[i])
	}
	return out, nil
}

func newOrigin(t *testing.T, f ledgertest.Faults) *origin {
	t.Helper()
	private, public, err := note.GenerateKey(nil, "trapeze/test")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	o := &origin{Ledger: ledgertest.NewDouble(f), tree: new(proof.Tree), signer: signer, key: private + "\n", keys: public + "\n", files: map[string]string{"policy.yaml": "rules: []"}}
	t.Cleanup(func() { _ = o.Close() })
	return o
}

// fill appends entries to some streams, an artifact for each tenth, and brings the tree up to date.
func (o *origin) fill(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		s := ledger.StreamOf("default", "task", fmt.Sprintf("t%d", i%7))
		old, err := o.Stream(t.Context(), s, 0, 10_000)
		if err != nil {
			t.Fatal(err)
		}
		end := ledger.Position(0)
		if len(old) > 0 {
			end = old[len(old)-1].Position
		}
		if _, err := ledgertest.Put(t.Context(), o, ledgertest.NewEntry(s, uint64(len(old)+1), fmt.Sprint("entry ", i)), end); err != nil {
			t.Fatal(err)
		}
		if i%10 == 0 {
			content := fmt.Sprint("artifact ", o.tree.Size(), i)
			sum := sha256.Sum256([]byte(content))
			o.files["artifacts/"+hex.EncodeToString(sum[:])] = content
		}
	}
	o.grow(t)
}

func (o *origin) grow(t *testing.T) {
	t.Helper()
	for _, e := range all(t, o, ledger.Position(o.tree.Size())) { //nolint:gosec // never negative
		for ledger.Position(o.tree.Size())+1 < e.Position { //nolint:gosec // as above
			o.stored = o.tree.Append(proof.Gap, o.stored)
		}
		o.stored = o.tree.Append(proof.Leaf(e), o.stored)
	}
}

func all(t *testing.T, l ledger.Ledger, after ledger.Position) (list []ledger.Entry) {
	t.Helper()
	last, err := l.Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for after < last {
		more, err := l.Read(t.Context(), after, 100)
		if err != nil {
			t.Fatal(err)
		}
		if len(more) > 0 {
			list, after = append(list, more...), more[len(more)-1].Position
		}
	}
	return list
}

func (o *origin) source(t *testing.T) backup.Source {
	t.Helper()
	c := proof.Checkpoint{Origin: "trapeze/test", Size: o.tree.Size(), Root: o.tree.Root()}
	signed, err := c.Sign(o.signer)
	if err != nil {
		t.Fatal(err)
	}
	src := backup.Source{
		Kind: backup.Entries, Log: "trapeze/test", Record: o, Until: ledger.Position(c.Size), Signed: c, Note: string(signed), //nolint:gosec // never negative
		PublicKeys: o.keys, Key: o.key, Stored: o.stored,
	}
	for name, content := range o.files {
		f := backup.File{Name: name, Open: func() (io.ReadCloser, int64, error) {
			return io.NopCloser(bytes.NewReader([]byte(content))), int64(len(content)), nil
		}}
		if name == "policy.yaml" {
			src.Settings = append(src.Settings, f)
		} else {
			src.Content = append(src.Content, f)
		}
	}
	gone := backup.File{Name: "artifacts/00", Open: func() (io.ReadCloser, int64, error) { return nil, 0, fs.ErrNotExist }}
	src.Content = append(src.Content, gone)
	return src
}

func (o *origin) write(t *testing.T, base []byte) []byte {
	t.Helper()
	options := backup.Options{Made: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	if base != nil {
		var err error
		if options.Base, err = backup.ReadBase(t.Context(), bytes.NewReader(base)); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if _, err := backup.Write(t.Context(), &b, o.source(t), options); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// copied is a target in memory.
type copied struct {
	entries []ledger.Entry
	stored  hashes
	files   map[string]string
}

func (c *copied) Append(_ context.Context, entries []ledger.Entry) error {
	c.entries = append(c.entries, entries...)
	return nil
}

func (c *copied) Hash(h []proof.Hash) error {
	c.stored = append(c.stored, h...)
	return nil
}

func (c *copied) Content(name string, r io.Reader) error {
	b, err := io.ReadAll(r)
	c.files[name] = string(b)
	return err
}

func (c *copied) Setting(name string, r io.Reader) error { return c.Content(name, r) }

func (c *copied) Remove(name string) error {
	delete(c.files, name)
	return nil
}

func restore(ctx context.Context, keys string, backups ...[]byte) (*copied, error) {
	c := &copied{files: map[string]string{}}
	r := backup.NewRestorer(c, keys)
	for _, b := range backups {
		if _, err := r.Add(ctx, bytes.NewReader(b)); err != nil {
			return c, err
		}
	}
	_, _, err := r.Last()
	return c, err
}

// same reports whether everything of the origin was copied.
func (o *origin) same(t *testing.T, c *copied) bool {
	t.Helper()
	return reflect.DeepEqual(bytesOf(t, all(t, o, 0)), bytesOf(t, c.entries)) && reflect.DeepEqual(o.stored, c.stored) && maps.Equal(o.files, c.files)
}

func bytesOf(t *testing.T, entries []ledger.Entry) (list []string) {
	t.Helper()
	for _, e := range entries {
		b, err := e.Encode()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprint(e.Position, string(b)))
	}
	return list
}

func TestARestoredRecordIsTheOneThatWasBackedUp(t *testing.T) {
	for name, faults := range map[string]ledgertest.Faults{"without gaps": {}, "with gaps": {Gaps: 3}} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t, faults)
			empty := o.write(t, nil)
			if c, err := restore(t.Context(), o.keys, empty); err != nil || !o.same(t, c) {
				t.Fatalf("an empty record: %+v, %v", c, err)
			}
			o.fill(t, 120)
			full := o.write(t, nil)
			if c, err := restore(t.Context(), o.keys, full); err != nil || !o.same(t, c) {
				t.Fatalf("a full backup: %v", err)
			}
			o.fill(t, 80)
			o.files["policy.yaml"] = "rules: [changed]"
			second := o.write(t, full)
			third := o.write(t, second) // nothing happened between
			if len(second) >= len(o.write(t, nil)) || len(third) >= len(second) {
				t.Errorf("incremental backups have %d and %d bytes, and a full one %d", len(second), len(third), len(o.write(t, nil)))
			}
			if c, err := restore(t.Context(), "", full, second, third); err != nil || !o.same(t, c) {
				t.Fatalf("a full backup and two incremental ones: %v", err)
			}
			for _, order := range [][][]byte{{second}, {full, third}, {full, second, second}, {second, full}} {
				if _, err := restore(t.Context(), "", order...); !errors.Is(err, backup.ErrOrder) {
					t.Errorf("in another order: %v", err)
				}
			}
		})
	}
}

// TestABackupOfARecordWhoseReadsLagIsWhole: the entries up to the checkpoint are there, although the replica that is read lacks them for a second.
func TestABackupOfARecordWhoseReadsLagIsWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrigin(t, ledgertest.Faults{})
		o.fill(t, 120)
		o.Ledger.(*ledgertest.Double).SetFaults(ledgertest.Faults{Lag: time.Second})
		full := o.write(t, nil)
		if c, err := restore(t.Context(), o.keys, full); err != nil || !o.same(t, c) {
			t.Errorf("%v", err)
		}
	})
}

func TestABackupOfAnotherRecordDoesNotFollow(t *testing.T) {
	a, b := newOrigin(t, ledgertest.Faults{}), newOrigin(t, ledgertest.Faults{})
	a.fill(t, 20)
	b.fill(t, 30) // their keys differ, and so do their entries
	full := a.write(t, nil)
	base, err := backup.ReadBase(t.Context(), bytes.NewReader(full))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Write(t.Context(), io.Discard, b.source(t), backup.Options{Base: base}); !errors.Is(err, backup.ErrOrder) {
		t.Errorf("the base is of a fork: %v", err)
	}
	a.fill(t, 20)
	later, err := backup.ReadBase(t.Context(), bytes.NewReader(a.write(t, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Write(t.Context(), io.Discard, b.source(t), backup.Options{Base: later}); !errors.Is(err, backup.ErrOrder) {
		t.Errorf("the base is of a record that is longer: %v", err)
	}
	if _, err := restore(t.Context(), b.keys, full); !errors.Is(err, backup.ErrDiffers) {
		t.Errorf("the checkpoint is signed by another key than those that are known: %v", err)
	}
	next := b.write(t, nil)
	if _, err := restore(t.Context(), "", full, next); !errors.Is(err, backup.ErrOrder) {
		t.Errorf("the second backup is full: %v", err)
	}
}

func TestARecordThatIsNotTheSignedOneIsNotBackedUp(t *testing.T) {
	o := newOrigin(t, ledgertest.Faults{})
	o.fill(t, 20)
	src := o.source(t)
	src.Signed.Root[3] ^= 1
	if _, err := backup.Write(t.Context(), io.Discard, src, backup.Options{}); !errors.Is(err, backup.ErrDiffers) {
		t.Errorf("%v", err)
	}
}

// A damaged artifact is left out and named, a later backup has it once it is whole again, and what was deleted is not restored.
func TestFilesOfALaterBackupReplaceThoseOfAnEarlierOne(t *testing.T) {
	o := newOrigin(t, ledgertest.Faults{})
	o.fill(t, 5)
	var name, whole string
	for n, content := range o.files {
		if n != "policy.yaml" {
			name, whole = n, content
		}
	}
	o.files[name] = "damaged"
	full := o.write(t, nil)
	c, err := restore(t.Context(), o.keys, full)
	if _, ok := c.files[name]; ok || err != nil {
		t.Errorf("a damaged file is restored: %v", err)
	}
	base, err := backup.ReadBase(t.Context(), bytes.NewReader(full))
	if err != nil || len(base.End.Damaged) != 1 || base.End.Damaged[0] != name {
		t.Errorf("the backup names %v as damaged, %v", base.End.Damaged, err)
	}
	o.files[name] = whole
	delete(o.files, "policy.yaml")
	if c, err := restore(t.Context(), o.keys, full, o.write(t, full)); err != nil || !o.same(t, c) {
		t.Errorf("%v, %v", c.files, err)
	}
}

func TestWhatIsNoBackupIsRefused(t *testing.T) {
	for name, b := range map[string][]byte{"nothing": nil, "text": []byte("hello\n"), "zeros": make([]byte, 4096)} {
		if _, err := restore(t.Context(), "", b); !errors.Is(err, backup.ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNoNameOfABackupHidesWhereItIsShown: the list of what was not signed has the names of settings.
func TestNoNameOfABackupHidesWhereItIsShown(t *testing.T) {
	o := newOrigin(t, ledgertest.Faults{})
	o.fill(t, 2)
	whole := o.write(t, nil)
	for _, name := range []string{"settings/policy.\x1b]0;t\x07.yaml", "settings/policy.\u202e.yaml", "settings/policy.\xff.yaml", "content/\u200b/x"} {
		b := rewritten(t, whole, func(had, content string) map[string]string {
			if had == "end.json" {
				return map[string]string{had: content, name: "x"}
			}
			return map[string]string{had: content}
		})
		if _, err := restore(t.Context(), "", b); !errors.Is(err, backup.ErrFormat) || strings.ContainsAny(err.Error(), "\x1b\u202e\u200b") || !utf8.ValidString(err.Error()) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestABackupHasEachFileOnce: the second of two files of one name, which the end names once, would replace the first.
func TestABackupHasEachFileOnce(t *testing.T) {
	o := newOrigin(t, ledgertest.Faults{})
	o.fill(t, 2)
	b := o.write(t, nil)
	var policy []byte // with its header
	for at := 0; at+512 <= len(b); at += 512 {
		if bytes.HasPrefix(b[at:], []byte("settings/policy.yaml")) {
			policy = b[at : at+1024]
			b = slices.Concat(b[:at], policy, b[at:])
			break
		}
	}
	if policy == nil {
		t.Fatal("the backup has no policy")
	}
	if _, err := restore(t.Context(), o.keys, b); !errors.Is(err, backup.ErrFormat) || !strings.Contains(err.Error(), `two files "policy.yaml"`) {
		t.Error(err)
	}
}
