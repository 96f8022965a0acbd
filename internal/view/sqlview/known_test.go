package sqlview

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/trapezehq/trapeze/internal/ledger"
	"github.com/trapezehq/trapeze/internal/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/memory"
	"github.com/trapezehq/trapeze/internal/view"
)

var ann = memory.Reader{Principal: "agent/ann"}

// note makes the entries of memory items: each is stored, revised, and then forgotten if it is asked for.
type note struct {
	codec *ledger.Codec[memory.Event]
	state memory.State
	id    string
	now   time.Time
	at    ledger.Position
	n     uint64
}

func newNote(id string) *note {
	return &note{codec: ledger.NewCodec(memory.Events...), id: id, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func (n *note) add(t testing.TB, l ledger.Ledger, c memory.Command) {
	t.Helper()
	e := n.entry(t, c)
	at, err := l.Append(t.Context(), e, n.at)
	if err != nil {
		t.Fatal(err)
	}
	n.at = at
}

func (n *note) entry(t testing.TB, c memory.Command) ledger.Entry {
	t.Helper()
	events, err := memory.Decide(n.state, c, n.now)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		n.state = memory.Fold(n.state, ev)
	}
	encoded, err := n.codec.EncodeAll(events)
	if err != nil {
		t.Fatal(err)
	}
	n.n++
	return ledger.Entry{
		Stream: ledger.StreamOf("default", "memory", n.id), Version: n.n, Time: n.now, Actor: ledger.Actor{Principal: "agent/ann"}, Events: encoded,
	}
}

func text(s string) memory.Content {
	return memory.Content{Text: s, Salt: "00112233445566778899aabbccddeeff"}
}

func storing(id, s string) memory.Store {
	return memory.Store{By: ann, ID: id, Scope: memory.Workspace, Tags: []string{"tagged"}, Content: text(s)}
}

// words are what the index of words holds.
func words(t *testing.T, log *sqlitelog.Log) (all []string) {
	t.Helper()
	err := log.Write(t.Context(), func(tx *sqlitelog.Tx) error {
		var errs []error
		for _, place := range places {
			errs = append(errs,
				tx.Exec("INSERT INTO "+place.index+"("+place.index+") VALUES('integrity-check')"),
				tx.Exec("CREATE VIRTUAL TABLE temp.word USING fts5vocab(main, "+place.index+", row)"),
				tx.Query(func(row sqlitelog.Row) error { all = append(all, row.Text(0)); return nil }, "SELECT term FROM temp.word"),
				tx.Exec("DROP TABLE temp.word"))
		}
		return errors.Join(errs...)
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

func TestNoWordOfAForgottenItemStaysInTheIndex(t *testing.T) {
	log, v := embedded(t, filepath.Join(t.TempDir(), "trapeze.db"))
	kept, gone := newNote("kept"), newNote("gone")
	kept.add(t, log, storing("kept", "apple"))
	gone.add(t, log, storing("gone", "swordfish apple"))
	gone.add(t, log, memory.Revise{By: ann, ID: "gone", Content: text("barracuda apple")})
	if got := words(t, log); !slices.Equal(got, []string{"appl", "barracuda", "tag"}) {
		t.Errorf("before: %q", got)
	}
	gone.add(t, log, memory.Forget{By: ann, ID: "gone"})
	if got := words(t, log); !slices.Equal(got, []string{"appl", "tag"}) {
		t.Errorf("after: %q", got)
	}
	for _, table := range []string{"view_memory", "view_memory_tag", "view_memory_text", "view_memory_text_content", "view_memory_title", "view_memory_title_content"} {
		var n int
		if err := v.readers.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil || n != 1 {
			t.Errorf("%s has %d rows, %v", table, n, err)
		}
	}
	wantSound(t, v, 0)
}

func TestItIsKnownAtTheStartWhichWorkspacesRemember(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trapeze.db")
	log, v := embedded(t, path)
	for _, ws := range []string{"one", "two", "two", "three"} {
		n := newNote(fmt.Sprint(ws, v.Position()))
		e := n.entry(t, storing(n.id, "x"))
		e.Stream = ledger.StreamOf(ws, "memory", n.id)
		if _, err := log.Append(t.Context(), e, 0); err != nil {
			t.Fatal(err)
		}
	}
	closeAll(t, v, log)
	_, v = embedded(t, path)
	for ws, want := range map[string]bool{"one": true, "two": true, "three": true, "four": false, "": false} {
		if v.Remembers(ws) != want {
			t.Errorf("%q remembers: %v", ws, !want)
		}
	}
}

func TestWordsThatDidNotCommitAreNotFound(t *testing.T) {
	db, err := sqlitelog.OpenDatabase("", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(t, db)
	d := ledgertest.NewDouble(ledgertest.Faults{})
	n := newNote("m")
	n.add(t, d, storing("m", "apple"))
	n.add(t, d, memory.Revise{By: ann, ID: "m", Content: text("pear")})
	n.add(t, d, memory.Tag{By: ann, ID: "m", Tags: []string{"ripe"}})
	n.add(t, d, memory.Forget{By: ann, ID: "m"})
	entries, err := d.Read(t.Context(), 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	p := newProjector(func(done) {})
	if err := db.Write(func(tx *sqlitelog.Tx) error { _, err := p.Setup(tx); return err }); err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	v := newViews()
	v.ledger, v.readers = d, db.Readers()
	defer closeAll(t, v)
	for i, want := range []string{"apple", "pear", "ripe", ""} {
		for _, outcome := range []error{full, nil} {
			err := db.Write(func(tx *sqlitelog.Tx) error { return errors.Join(p.Project(tx, entries[i:i+1]), outcome) })
			if !errors.Is(err, outcome) {
				t.Fatal(err)
			}
		}
		found, err := v.Memory(t.Context(), "default", view.MemoryFilter{By: ann, Text: "apple pear ripe"})
		if err != nil || len(found) != min(len(want), 1) {
			t.Errorf("after entry %d: %v, %v", i+1, found, err)
		}
		if found, err = v.Memory(t.Context(), "default", view.MemoryFilter{By: ann, Text: want + "!"}); err != nil || len(found) != min(len(want), 1) {
			t.Errorf("%q after entry %d: %v, %v", want, i+1, found, err)
		}
		if err := v.Verify(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestNoQuestionLooksAtEverythingThatIsKnown(t *testing.T) {
	_, v := embedded(t, filepath.Join(t.TempDir(), "trapeze.db"))
	check := func(about any, q clause, sorts bool) {
		t.Helper()
		sorted := 0
		for _, step := range plan(t, v, q.text, q.args...) {
			// The rows of a subquery are bounded where it reads a table, which is a step of its own.
			scan := strings.HasPrefix(step, "SCAN") && !strings.Contains(step, "VIRTUAL TABLE") && !strings.HasPrefix(step, "SCAN (subquery")
			if strings.Contains(step, "TEMP B-TREE FOR ORDER BY") {
				sorted++
			}
			if scan || sorted > 0 && !sorts || sorted > 1 { // at most the answer is sorted, never what a leg reads
				t.Errorf("%+v: %s", about, step)
			}
		}
	}
	for mask := range 512 {
		pick := func(bit int, s string) string {
			if mask&bit != 0 {
				return s
			}
			return ""
		}
		f := view.MemoryFilter{
			By:  memory.Reader{Principal: "agent/ann", ReadsAny: mask&1 != 0, Tasks: []string{"task_1"}},
			Tag: pick(2, "go"), Author: pick(4, "bob"), Task: pick(8, "task_1"), Conversation: pick(16, "c"), Scope: memory.Scope(pick(32, "task")),
			Text: pick(128, "word"),
		}
		if mask&64 != 0 {
			f.After = 7
		}
		f.Pinned = mask&256 != 0
		q, ok := selectMemory("main", f)
		if f.Text != "" {
			q, _ = selectByWords("main", f, matches(f.Text))
		}
		listed := f.Pinned || f.Tag+f.Author+f.Task+f.Conversation != ""
		if !ok {
			t.Errorf("%+v asks nothing", f)
		}
		check(f, q, f.Text == "" && !f.By.ReadsAny && !listed) // a few tasks' items are sorted
	}
	for mask := range 16 {
		f := view.ConversationFilter{By: memory.Reader{Principal: "agent/ann", ReadsAny: mask&1 != 0, Tasks: []string{"task_1"}, Conversations: []string{"c"}}}
		for bit, field := range map[int]*string{2: &f.Agent, 4: &f.Task, 8: &f.After} {
			if mask&bit != 0 {
				*field = "x"
			}
		}
		check(f, selectConversations("main", f), !f.By.ReadsAny)
	}
	check("tasks", clause{tasksOf, []any{"main", "bob", 5}}, false)
	check("carriers", selectCarriers("main", "c", "", 5), false)
	check("carriers to bob", selectCarriers("main", "c", "agent/bob", 5), false)
	for _, step := range plan(t, v, workspacesWithMemory) {
		if strings.Contains(step, "SCAN view_memory") {
			t.Errorf("workspaces: %s", step)
		}
	}
}

func TestAQueryIsBoundedAndItsWordsAreQuoted(t *testing.T) {
	for text, want := range map[string][]string{
		`say "hi" AND bye*`:  {`"say"`, `"hi"`, `"bye*"`},
		"x x\x00b\nX - !":    {`"x"`, `"b"`, `"X"`},
		"to be or not to be": {`"to"`, `"be"`, `"or"`, `"not"`},
		"":                   {},
		"\u202e \u0301 ()":   {},
	} {
		if got := matches(text); !slices.Equal(got, want) {
			t.Errorf("%q asks for %s, want %s", text, got, want)
		}
	}
	long := ""
	for n := range 2 * view.MaxWords {
		long += fmt.Sprintf("w%d ", n)
	}
	if n := len(matches(long)); n != view.MaxWords {
		t.Errorf("%d words", n)
	}
}

// between reports whether a character ends a word of a search: words in quotes, too, are words.
func between(r rune) bool { return r == '"' || unicode.IsSpace(r) || unicode.IsControl(r) }

func FuzzASearchFindsWordsAndNeverFails(f *testing.F) {
	log, v, err := OpenEmbedded(f.Context(), filepath.Join(f.TempDir(), "trapeze.db"), sqlitelog.Options{MinFree: -1})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { closeAll(f, v, log) })
	n := newNote("m")
	n.add(f, log, storing("m", "needle AND OR NOT NEAR title text"))
	for _, seed := range []string{`"`, "a\x00b", "NEAR(a b)", "title:needle", "needle*", "^needle", "\xff", "'; DROP", "{a b} : c", "-x"} {
		f.Add(seed, "tag")
	}
	f.Fuzz(func(t *testing.T, text, tag string) {
		for _, f := range []view.MemoryFilter{{Text: text}, {Text: text + " needle"}, {Tag: tag}, {Author: tag, Task: text, Conversation: tag}} {
			f.By = ann
			found, err := v.Memory(t.Context(), "default", f)
			if err != nil {
				t.Fatalf("%+v: %v", f, err)
			}
			if strings.HasSuffix(f.Text, " needle") && len(found) != 1 && len(strings.FieldsFunc(f.Text, between)) <= view.MaxWords {
				t.Errorf("%q does not find the needle", f.Text)
			}
			if f.Text == "" && f.Author != "" && len(found) > 0 {
				t.Errorf("%+v finds %v", f, found)
			}
		}
	})
}

// BenchmarkMemory is what an envelope costs that holds nothing of what is known, and a search of 10,000 items.
func BenchmarkMemory(b *testing.B) {
	log, v := embedded(b, filepath.Join(b.TempDir(), "trapeze.db"))
	ask := func(name string, f view.MemoryFilter, want int) {
		f.By, f.Now = memory.Reader{Principal: "system/test", Tasks: []string{"task_1"}}, time.Now()
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if found, err := v.Memory(b.Context(), "default", f); err != nil || len(found) != want {
					b.Fatal(found, err)
				}
			}
		})
	}
	ask("nothing pinned", view.MemoryFilter{Pinned: true}, 0)
	for n := range 10_000 {
		newNote(fmt.Sprint("m", n)).add(b, log, storing(fmt.Sprint("m", n), fmt.Sprintf("common word%d word%d", n%100, n)))
	}
	ask("nothing pinned of many", view.MemoryFilter{Pinned: true}, 0)
	ask("a list of many", view.MemoryFilter{Limit: 20}, 20)
	ask("a rare word", view.MemoryFilter{Text: "word7777", Limit: 20}, 1)
	ask("a usual word", view.MemoryFilter{Text: "word77", Limit: 20}, 20)
	ask("the word of all", view.MemoryFilter{Text: "common", Limit: 20}, 20)
}

func TestARareWordFindsAnOldItemBesideAWordThatIsEverywhere(t *testing.T) {
	log, v := embedded(t, filepath.Join(t.TempDir(), "trapeze.db"))
	n := newNote("old")
	n.add(t, log, storing("old", "farm zebra"))
	for i := range wordRows + 100 {
		id := fmt.Sprintf("new%d", i)
		newNote(id).add(t, log, storing(id, "farm horse"))
	}
	for text, want := range map[string]string{"farm zebra": "old", "zebra farm": "old", "farm": fmt.Sprintf("new%d", wordRows+99)} {
		found, err := v.Memory(t.Context(), "default", view.MemoryFilter{By: ann, Text: text, Now: time.Now(), Limit: 5})
		if err != nil || len(found) != 5 || found[0].ID != want {
			t.Errorf("%q finds %v, %v; want %s first", text, found, err, want)
		}
	}
}

func TestAnOldTitleIsFoundBehindNewTextsWithItsWord(t *testing.T) {
	log, v := embedded(t, filepath.Join(t.TempDir(), "trapeze.db"))
	titled := storing("titled", "how it is done")
	titled.Content.Title = "zebra crossings"
	newNote("titled").add(t, log, titled)
	for i := range wordRows + 100 {
		id := fmt.Sprintf("new%d", i)
		newNote(id).add(t, log, storing(id, "a zebra on the farm"))
	}
	found, err := v.Memory(t.Context(), "default", view.MemoryFilter{By: ann, Text: "zebra", Now: time.Now(), Limit: 5})
	if err != nil || len(found) != 5 || found[0].ID != "titled" {
		t.Errorf("found %v, %v", found, err)
	}
}

func TestAWordIsTheRarerTheFurtherBackItsNewestRowsReach(t *testing.T) {
	r := ranking{items: 1000, first: 1, last: 1000, legs: []leg{
		{most: 10, rows: 3, oldest: 500},
		{most: 10}, // all of them were looked at
		{most: 10, rows: 10, oldest: 901},
		{most: 10, rows: 2, oldest: 7}, // ten in the last hundred
		{most: 10, rows: 10, oldest: 991},
		{most: 10},
		{most: 10},
		{most: 10, rows: 4, oldest: 2}, // in titles alone
	}}
	for word, having := range []float64{3, 100, 1000, 4} {
		if got, want := r.idf(word), math.Log(1+1000/having); math.Abs(got-want) > 1e-9 {
			t.Errorf("word %d: %v, want that of %v items", word, got, having)
		}
	}
}
