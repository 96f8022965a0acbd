package treefile_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/record/proof/treefile"
)

// book is a ledger whose entries a test can change.
type book struct {
	ledger.Ledger
	mu      sync.Mutex
	entries []ledger.Entry
}

func entry(n int) ledger.Entry {
	e := ledgertest.NewEntry("default/task/t", 1, fmt.Sprintf("entry %d", n))
	e.Position = ledger.Position(n) //nolint:gosec // small
	return e
}

func newBook(n int) *book {
	b := &book{}
	b.write(n)
	return b
}

func (b *book) write(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range n {
		b.entries = append(b.entries, entry(len(b.entries)+1))
	}
}

func (b *book) Last(context.Context) (ledger.Position, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.entries) == 0 {
		return 0, nil
	}
	return b.entries[len(b.entries)-1].Position, nil
}

func (b *book) Read(_ context.Context, after ledger.Position, limit int) ([]ledger.Entry, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []ledger.Entry
	for _, e := range b.entries {
		if e.Position > after && len(out) < limit {
			out = append(out, e)
		}
	}
	return out, nil
}

func (b *book) Follow(ctx context.Context, after ledger.Position, fn func([]ledger.Entry) error) error {
	for {
		entries, _ := b.Read(ctx, after, 7)
		if len(entries) == 0 {
			<-ctx.Done()
			return ctx.Err()
		}
		if err := fn(entries); err != nil {
			return err
		}
		after = entries[len(entries)-1].Position
	}
}

func open(t *testing.T, dir string, o treefile.Options) *treefile.Store {
	t.Helper()
	o.Volatile = true
	s, err := treefile.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// run opens the tree in a directory, follows a book until a checkpoint has everything, and closes the tree. It returns the checkpoint, or what was
// found.
func run(t *testing.T, dir string, b *book) (c proof.Checkpoint, err error) {
	t.Helper()
	s := open(t, dir, treefile.Options{Pace: -1})
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Check(t.Context(), b); err != nil {
		return c, err
	}
	if err := s.Err(); err != nil {
		return c, err
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx, b) })
	last, _ := b.Last(ctx)
	c, _, err = s.Await(ctx, last)
	stop()
	running.Wait()
	return c, err
}

func must(t *testing.T, dir string, b *book) proof.Checkpoint {
	t.Helper()
	c, err := run(t, dir, b)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// root is the root of a book as RFC 6962 defines it, without the code under test.
func root(t *testing.T, b *book) tlog.Hash {
	t.Helper()
	var leaves []tlog.Hash
	for _, e := range b.entries {
		raw, err := e.Encode()
		if err != nil {
			t.Fatal(err)
		}
		for len(leaves)+1 < int(e.Position) { //nolint:gosec // small
			leaves = append(leaves, tlog.RecordHash(nil))
		}
		leaves = append(leaves, tlog.RecordHash(raw))
	}
	var mth func([]tlog.Hash) tlog.Hash
	mth = func(d []tlog.Hash) tlog.Hash {
		if len(d) == 1 {
			return d[0]
		}
		k := 1
		for k*2 < len(d) {
			k *= 2
		}
		return tlog.NodeHash(mth(d[:k]), mth(d[k:]))
	}
	return mth(leaves)
}

func TestTheTreeFollowsTheRecordThroughRestarts(t *testing.T) {
	dir, b := t.TempDir(), newBook(1)
	for round := range 8 {
		b.write(round * 13)
		c := must(t, dir, b)
		if last, _ := b.Last(t.Context()); c.Size != int64(last) || c.Root != root(t, b) { //nolint:gosec // small
			t.Fatalf("the checkpoint is of %d with the root %v, want %d, %v", c.Size, c.Root, last, root(t, b))
		}
	}
	info, err := os.Stat(filepath.Join(dir, "tree"))
	if err != nil || info.Size() > int64(80*len(b.entries)) {
		t.Errorf("the tree of %d entries has %d bytes, want at most 80 for each, %v", len(b.entries), info.Size(), err)
	}
	for _, name := range []string{"tree", "key", "keys", "checkpoint"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", name, info.Mode(), err)
		}
	}
}

// A directory without a checkpoint has lost it, so there is one before the first entry: a copy of a server that was killed just after its first start is
// no finding.
func TestTheFirstCheckpointIsOnTheDiskBeforeTheFirstEntry(t *testing.T) {
	dir := t.TempDir()
	s, err := treefile.Open(dir, treefile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.Check(t.Context(), newBook(0)); err != nil {
		t.Fatal(err)
	}
	keys, err := proof.ParseKeys(s.Keys())
	if err != nil {
		t.Fatal(err)
	}
	note, err := os.ReadFile(filepath.Join(dir, "checkpoint"))
	if err != nil {
		t.Fatal(err)
	}
	if c, err := proof.OpenCheckpoint(note, keys); err != nil || c.Size != 0 || c.Root != new(proof.Tree).Root() {
		t.Errorf("the first checkpoint is %v, %v", c, err)
	}
}

func TestAPositionWithoutAnEntryIsAGap(t *testing.T) {
	dir, b := t.TempDir(), newBook(9)
	b.entries = append(b.entries[:3:3], b.entries[6:]...)
	if c := must(t, dir, b); c.Size != 9 || c.Root != root(t, b) {
		t.Errorf("%+v, want the root %v", c, root(t, b))
	}
	must(t, dir, b) // compares it again
}

// TestWhatACrashLeavesIsTakenFromTheRecord cuts the tree after its checkpoint, and leaves zeros there.
func TestWhatACrashLeavesIsTakenFromTheRecord(t *testing.T) {
	dir, b := t.TempDir(), newBook(21)
	must(t, dir, b)
	before := files(t, dir)
	b.write(6)
	want := must(t, dir, b)
	after := files(t, dir)
	for size := len(before["tree"]); size <= len(after["tree"]); size += 5 {
		for _, torn := range [][]byte{after["tree"][:size], append(bytes.Clone(after["tree"][:size]), make([]byte, len(after["tree"])-size)...)} {
			restore(t, dir, before)
			if err := os.WriteFile(filepath.Join(dir, "tree"), torn, 0o600); err != nil {
				t.Fatal(err)
			}
			switch c, err := run(t, dir, b); {
			case err == nil && c == want:
			case err != nil && size%tlog.HashSize != 0 && len(torn) != size: // a hash whose end is zeros is no hash of zeros
			default:
				t.Fatalf("cut at byte %d of %d: %+v, %v, want %+v", size, len(after["tree"]), c, err, want)
			}
		}
	}
}

func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, f := range list {
		if out[f.Name()], err = os.ReadFile(filepath.Join(dir, f.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func restore(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestADifferenceIsNamedAndNothingIsOverwritten(t *testing.T) {
	const n = 40
	leaf := func(position int64) int64 { return tlog.StoredHashIndex(0, position-1) * tlog.HashSize }
	for what, c := range map[string]struct {
		change   func(b *book, files map[string][]byte)
		position ledger.Position
	}{
		"an entry is changed":           {func(b *book, _ map[string][]byte) { b.entries[16] = entry(1017); b.entries[16].Position = 17 }, 17},
		"the first entry is changed":    {func(b *book, _ map[string][]byte) { b.entries[0] = entry(1001); b.entries[0].Position = 1 }, 1},
		"an entry is deleted":           {func(b *book, _ map[string][]byte) { b.entries = append(b.entries[:16:16], b.entries[17:]...) }, 17},
		"two entries change places":     {func(b *book, _ map[string][]byte) { swap(b, 16, 20) }, 17},
		"the last entries are missing":  {func(b *book, _ map[string][]byte) { b.entries = b.entries[:30] }, 31},
		"all entries are missing":       {func(b *book, _ map[string][]byte) { b.entries = nil }, 1},
		"a leaf of the tree is changed": {func(_ *book, f map[string][]byte) { f["tree"][leaf(17)+3] ^= 1 }, 17},
		"the last leaf is changed":      {func(_ *book, f map[string][]byte) { f["tree"][leaf(n)+3] ^= 1 }, n},
		"the top of the tree is changed": {func(_ *book, f map[string][]byte) {
			f["tree"][tlog.StoredHashIndex(5, 0)*tlog.HashSize] ^= 1
		}, 0},
		"the tree is cut": {func(_ *book, f map[string][]byte) { f["tree"] = f["tree"][:leaf(31)] }, 31},
		"the root is changed": {func(_ *book, f map[string][]byte) {
			f["checkpoint"] = bytes.Replace(f["checkpoint"], []byte("=\n\n"), []byte("A\n\n"), 1)
		}, 0},
		"the size is changed": {func(_ *book, f map[string][]byte) {
			f["checkpoint"] = bytes.Replace(f["checkpoint"], []byte("\n40\n"), []byte("\n20\n"), 1)
		}, 0},
		"the checkpoint is cut":     {func(_ *book, f map[string][]byte) { f["checkpoint"] = f["checkpoint"][:20] }, 0},
		"the checkpoint is emptied": {func(_ *book, f map[string][]byte) { f["checkpoint"] = nil }, 0},
	} {
		t.Run(what, func(t *testing.T) {
			dir, b := t.TempDir(), newBook(n)
			must(t, dir, b)
			all := files(t, dir)
			c.change(b, all)
			restore(t, dir, all)
			_, err := run(t, dir, b)
			found, ok := errors.AsType[*treefile.Finding](err)
			if !ok || found.Position != c.position {
				t.Errorf("found %v, want something at position %d", err, c.position)
			}
			for name, want := range all {
				if got := files(t, dir)[name]; !bytes.Equal(got, want) {
					t.Errorf("%s was written to", name)
				}
			}
		})
	}
}

func swap(b *book, i, j int) {
	b.entries[i], b.entries[j] = b.entries[j], b.entries[i]
	b.entries[i].Position, b.entries[j].Position = b.entries[j].Position, b.entries[i].Position
}

// TestAnOldEntryThatIsChangedIsFoundByTheScan changes what is too old for the check at the start.
func TestAnOldEntryThatIsChangedIsFoundByTheScan(t *testing.T) {
	for what, change := range map[string]func(b *book, f map[string][]byte){
		"an entry": func(b *book, _ map[string][]byte) { b.entries[16] = entry(1017); b.entries[16].Position = 17 },
		"a leaf":   func(_ *book, f map[string][]byte) { f["tree"][tlog.StoredHashIndex(0, 16)*tlog.HashSize] ^= 1 },
		"a node":   func(_ *book, f map[string][]byte) { f["tree"][(tlog.StoredHashIndex(0, 15)+1)*tlog.HashSize] ^= 1 },
	} {
		t.Run(what, func(t *testing.T) {
			dir, b := t.TempDir(), newBook(600)
			must(t, dir, b)
			all := files(t, dir)
			change(b, all)
			restore(t, dir, all)
			s := open(t, dir, treefile.Options{Pace: 1 << 30})
			defer s.Close()
			if err := errors.Join(s.Check(t.Context(), b), s.Err()); err != nil {
				t.Fatal(err)
			}
			s.Run(t.Context(), b2{b}) // until it is found
			found, ok := errors.AsType[*treefile.Finding](s.Err())
			if !ok || found.Position != map[string]ledger.Position{"an entry": 17, "a leaf": 17, "a node": 16}[what] {
				t.Errorf("found %v", s.Err())
			}
			if _, _, err := s.Await(t.Context(), 10_000); !errors.As(err, &found) {
				t.Errorf("a caller that waits for a checkpoint gets %v", err)
			}
		})
	}
}

// unreadable is a ledger of which an entry is in a segment that cannot be read at first.
type unreadable struct {
	b2
	at ledger.Position
}

func (u *unreadable) Read(ctx context.Context, after ledger.Position, limit int) ([]ledger.Entry, error) {
	list, err := u.b2.Read(ctx, after, limit)
	if i := int(u.at) - int(after) - 1; i >= 0 && i < len(list) { //nolint:gosec // small
		at := u.at
		u.at = 0
		return list[:i], &ledger.Damaged{Position: at, Err: fmt.Errorf("read 1-600.segment: %w", syscall.EIO)}
	}
	return list, err
}

// TestAnEntryThatCannotBeReadIsNoDifference has one among those that are compared at the start, and one before. What differs is found later.
func TestAnEntryThatCannotBeReadIsNoDifference(t *testing.T) {
	for _, at := range []ledger.Position{17, 590} {
		dir, b := t.TempDir(), newBook(600)
		must(t, dir, b)
		b.entries[40] = entry(1041)
		b.entries[40].Position = 41
		synctest.Test(t, func(t *testing.T) {
			var told bytes.Buffer
			s := open(t, dir, treefile.Options{Pace: 1 << 30, Log: slog.New(slog.NewTextHandler(&told, nil))})
			u := &unreadable{b2{b}, at}
			if err := errors.Join(s.Check(t.Context(), u), s.Err()); err != nil {
				t.Fatal(err)
			}
			s.Run(t.Context(), u) // until the difference is found
			if found, ok := errors.AsType[*treefile.Finding](s.Err()); !ok || found.Position != 41 {
				t.Errorf("an entry at %d that cannot be read: found %v", at, s.Err())
			}
			if n := strings.Count(told.String(), "an entry cannot be read"); n != 1 {
				t.Errorf("the log says %d times that the entry cannot be read: %s", n, &told)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// b2 is a ledger whose followers end after a while: nothing new is written.
type b2 struct{ *book }

func (b b2) Follow(ctx context.Context, _ ledger.Position, _ func([]ledger.Entry) error) error {
	t := time.NewTimer(time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	return errors.New("nothing new")
}

func TestAKeyThatIsGoneIsReplacedUnderTheSameName(t *testing.T) {
	dir, b := t.TempDir(), newBook(5)
	first := must(t, dir, b)
	s := open(t, dir, treefile.Options{})
	_, old := s.Checkpoint()
	keys := s.Keys()
	if err := errors.Join(s.Close(), os.Remove(filepath.Join(dir, "key"))); err != nil {
		t.Fatal(err)
	}
	b.write(1)
	if second := must(t, dir, b); second.Origin != first.Origin || second.Size != 6 {
		t.Errorf("%+v goes on as %+v", first, second)
	}
	s = open(t, dir, treefile.Options{})
	defer s.Close()
	if !strings.HasPrefix(s.Keys(), keys) || strings.Count(s.Keys(), "\n") != 2 {
		t.Errorf("the keys are\n%s\nand were\n%s", s.Keys(), keys)
	}
	both, err := proof.ParseKeys(s.Keys())
	if err != nil {
		t.Fatal(err)
	}
	if c, err := proof.OpenCheckpoint(old, both); err != nil || c != first {
		t.Errorf("a checkpoint of the old key: %+v, %v", c, err)
	}
}

// TestASecondProcessWritesNothing opens the files of a store that is open, as a second server does before it finds out that the ledger is in use.
func TestASecondProcessWritesNothing(t *testing.T) {
	dir, b := t.TempDir(), newBook(5)
	must(t, dir, b)
	if err := os.WriteFile(filepath.Join(dir, "tree"), append(files(t, dir)["tree"], 1, 2, 3), 0o600); err != nil { // the first one is writing
		t.Fatal(err)
	}
	before := files(t, dir)
	s := open(t, dir, treefile.Options{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	after := files(t, dir)
	if len(after) != len(before) {
		t.Errorf("there are %d files, want %d", len(after), len(before))
	}
	for name, want := range before {
		if !bytes.Equal(after[name], want) {
			t.Errorf("%s was written to", name)
		}
	}
	late := open(t, dir, treefile.Options{})
	defer late.Close()
	restore(t, dir, map[string][]byte{"tree": before["tree"][:len(before["tree"])-3]})
	b.write(9)
	want := must(t, dir, b)
	if err := errors.Join(late.Check(t.Context(), b), late.Err()); err != nil {
		t.Error(err)
	}
	if c, _ := late.Checkpoint(); c != want {
		t.Errorf("a process that waited for the ledger goes on from %+v, want %+v", c, want)
	}
	empty := t.TempDir()
	if err := open(t, empty, treefile.Options{}).Close(); err != nil || !tree(files(t, empty)) {
		t.Errorf("in a new directory there are %v, %v", files(t, empty), err)
	}
}

// tree reports whether there is an empty tree, and nothing else.
func tree(files map[string][]byte) bool {
	return len(files) == 1 && len(files["tree"]) == 0 && files["tree"] != nil
}

func TestADamagedKeySignsNothing(t *testing.T) {
	for _, name := range []string{"key", "keys"} {
		dir := t.TempDir()
		must(t, dir, newBook(1))
		path := filepath.Join(dir, name)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(b)*8; i += 13 {
			if i%8 == 5 { // the number of a key is the same in capital letters
				continue
			}
			changed := bytes.Clone(b)
			changed[i/8] ^= 1 << (i % 8)
			if bytes.Equal(bytes.TrimSpace(changed), bytes.TrimSpace(b)) { // another kind of white space at the end
				continue
			}
			if err := os.WriteFile(path, changed, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := treefile.Open(dir, treefile.Options{Volatile: true})
			if err == nil {
				err = s.Err()
				_ = s.Close()
			}
			if err == nil {
				t.Errorf("%s with bit %d changed is used: %q", name, i, changed)
			}
		}
	}
}
