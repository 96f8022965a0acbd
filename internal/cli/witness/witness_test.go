package witness_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/trapezehq/trapeze/internal/cli/witness"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// book is a log: its leaves, and its key.
type book struct {
	t      *testing.T
	signer note.Signer
	public string
	hashes []proof.Hash
	tree   proof.Tree
}

func newBook(t *testing.T, name string) *book {
	t.Helper()
	private, public, err := note.GenerateKey(nil, name)
	if err != nil {
		t.Fatal(err)
	}
	b := &book{t: t, public: public}
	if b.signer, err = note.NewSigner(private); err != nil {
		t.Fatal(err)
	}
	return b
}

// add adds leaves.
func (b *book) add(n int, what string) {
	for i := range n {
		b.hashes = b.tree.Append(tlog.RecordHash(fmt.Append(nil, what, i)), b.hashes)
	}
}

// fork is a book with the same key and the same first leaves.
func (b *book) fork() *book {
	return &book{t: b.t, signer: b.signer, public: b.public, hashes: append([]proof.Hash{}, b.hashes...), tree: *b.tree.Clone()}
}

// ReadHashes implements [tlog.HashReader].
func (b *book) ReadHashes(at []int64) ([]proof.Hash, error) {
	list := make([]proof.Hash, len(at))
	for i, n := range at {
		list[i] = b.hashes[n]
	}
	return list, nil
}

// request is what the log sends after a checkpoint of so many entries.
func (b *book) request(old int64) string {
	b.t.Helper()
	text := fmt.Sprintf("old %d\n", old)
	if old > 0 && old < b.tree.Size() {
		path, err := tlog.ProveTree(b.tree.Size(), old, b)
		if err != nil {
			b.t.Fatal(err)
		}
		for _, h := range path {
			text += h.String() + "\n"
		}
	}
	msg, err := proof.Checkpoint{Origin: b.signer.Name(), Size: b.tree.Size(), Root: b.tree.Root()}.Sign(b.signer)
	if err != nil {
		b.t.Fatal(err)
	}
	return text + "\n" + string(msg)
}

// clock stands still.
func clock() time.Time { return time.Unix(1700000000, 0) }

func open(t *testing.T, dir string, logs ...*book) (*witness.Witness, http.Handler) {
	t.Helper()
	keys := ""
	for _, l := range logs {
		keys += l.public + "\n"
	}
	w, err := witness.Open(dir, "witness.example.com/w1", keys, clock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	h := w.Handler(slog.New(slog.DiscardHandler))
	return w, h
}

func post(h http.Handler, body string) (status int, media, answer string) {
	r := httptest.NewRecorder()
	h.ServeHTTP(r, httptest.NewRequest(http.MethodPost, "/add-checkpoint", strings.NewReader(body)))
	b, _ := io.ReadAll(r.Body)
	return r.Code, r.Header().Get("Content-Type"), string(b)
}

func TestAWitnessCosignsWhatContinuesAndNothingElse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, stranger := newBook(t, "a.example.com"), newBook(t, "stranger.example.com")
	w, h := open(t, dir, a)
	impostor := newBook(t, "a.example.com")
	for _, b := range []*book{a, stranger, impostor} {
		b.add(3, "leaf")
	}
	forked := a.fork()
	forked.add(7, "other")
	short := newBook(t, "a.example.com")
	short.signer = a.signer
	short.add(2, "leaf")
	first := a.request(0)
	a.add(4, "more")
	grown := a.request(3)
	for _, tt := range []struct {
		what, body string
		status     int
		answer     string
	}{
		{"another log", stranger.request(0), 404, ""},
		{"another key", impostor.request(0), 403, ""},
		{"a changed signature", first[:len(first)-6] + "AAAA\n", 400, ""},
		{"too large", strings.Repeat("x", 1<<17), 400, ""},
		{"no size", strings.TrimPrefix(first, "old 0\n"), 400, ""},
		{"a size with a zero", strings.Replace(first, "old 0", "old 00", 1), 400, ""},
		{"a path from nothing", strings.Replace(first, "old 0\n", "old 0\n"+proof.Gap.String()+"\n", 1), 422, ""},
		{"too long a path", strings.Replace(first, "old 0\n", "old 0\n"+strings.Repeat(proof.Gap.String()+"\n", 64), 1), 400, ""},
		{"an unknown size", grown, 409, "0\n"},
		{"the first", first, 200, "— witness.example.com/w1 "},
		{"the first again", first, 409, "3\n"},
		{"the same size", strings.Replace(first, "old 0", "old 3", 1), 200, "— witness.example.com/w1 "},
		{"the size goes back", short.request(0), 409, "3\n"},
		{"an old size above the checkpoint", strings.Replace(short.request(0), "old 0", "old 3", 1), 400, ""},
		{"a longer one", grown, 200, "— witness.example.com/w1 "},
		{"a fork of before", forked.request(3), 409, "7\n"},
		{"a fork", strings.Replace(forked.request(3), "old 3", "old 7", 1), 422, ""},
		{"nothing", "", 400, ""},
	} {
		status, media, answer := post(h, tt.body)
		if status != tt.status || tt.answer != "" && !strings.HasPrefix(answer, tt.answer) {
			t.Errorf("%s: %d %q", tt.what, status, answer)
		}
		if (status == http.StatusConflict) != (media == "text/x.tlog.size") {
			t.Errorf("%s: %d has the type %s", tt.what, status, media)
		}
	}
	for range 2 { // also after a restart
		r := httptest.NewRecorder()
		h.ServeHTTP(r, httptest.NewRequest(http.MethodGet, fmt.Sprintf("/%x/checkpoint", sha256.Sum256([]byte("a.example.com"))), nil))
		key, err := proof.ParseWitnessKey(w.Key())
		if err != nil {
			t.Fatal(err)
		}
		list, err := proof.CheckCosignatures(r.Body.Bytes(), []proof.WitnessKey{key}, 1)
		if err != nil || !list[0].Time.Equal(clock()) {
			t.Errorf("%v, %v: %s", list, err, r.Body)
		}
		if status, _, answer := post(h, first); status != 409 || answer != "7\n" {
			t.Errorf("%d %q", status, answer)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		w, h = open(t, dir, a)
	}
}

func TestOfTwoForksAtOnceOneIsCosigned(t *testing.T) {
	t.Parallel()
	a := newBook(t, "a.example.com")
	_, h := open(t, t.TempDir(), a)
	a.add(5, "leaf")
	if status, _, answer := post(h, a.request(0)); status != 200 {
		t.Fatalf("%d %s", status, answer)
	}
	for round := range 20 {
		size := a.tree.Size()
		forks := []*book{a.fork(), a.fork()}
		var statuses [2]int
		var both sync.WaitGroup
		for i, f := range forks {
			f.add(3, fmt.Sprint("round ", round, " fork ", i))
			body := f.request(size)
			both.Go(func() { statuses[i], _, _ = post(h, body) })
		}
		both.Wait()
		switch statuses {
		case [2]int{200, 409}:
			a = forks[0]
		case [2]int{409, 200}:
			a = forks[1]
		default:
			t.Fatalf("%v", statuses)
		}
	}
}

func TestADirectoryIsOfOneWitness(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := newBook(t, "a.example.com")
	open(t, dir, a)
	if _, err := witness.Open(dir, "w", a.public, clock); err == nil {
		t.Error("a second witness opened the directory")
	}
	w, err := witness.Open(t.TempDir(), "", a.public, clock)
	if err != nil || !strings.HasPrefix(w.Key(), "trapeze-witness+") {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, keys := range []string{"", "nonsense"} {
		if _, err := witness.Open(t.TempDir(), "w", keys, clock); err == nil {
			t.Errorf("a witness of %q", keys)
		}
	}
}

func FuzzARequestIsAnswered(f *testing.F) {
	a := newBook(&testing.T{}, "a.example.com")
	a.add(3, "leaf")
	f.Add([]byte(a.request(0)))
	f.Add([]byte(a.request(2)))
	f.Add([]byte("old 9223372036854775807\n\na.example.com\n"))
	w, err := witness.Open(f.TempDir(), "w", a.public, clock)
	if err != nil {
		f.Fatal(err)
	}
	h := w.Handler(slog.New(slog.DiscardHandler))
	f.Fuzz(func(t *testing.T, body []byte) {
		r := httptest.NewRecorder()
		h.ServeHTTP(r, httptest.NewRequest(http.MethodPost, "/add-checkpoint", bytes.NewReader(body)))
		if r.Code >= 500 {
			t.Errorf("%d %s", r.Code, r.Body)
		}
	})
}
