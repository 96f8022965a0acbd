package search

import (
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/kept"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
)

var ann = memory.Reader{Principal: identity.Principal{Role: identity.Agent, Name: "ann"}}

// harness is the tables in a database of their own.
type harness struct {
	*Reader
	t       testing.TB
	file    *sqlitelog.Database
	queries *query.DB
	writer  *Writer
	at      ledger.Position
}

func open(t testing.TB) *harness {
	t.Helper()
	db, err := sqlitelog.OpenDatabase("", 1)
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{t: t, file: db, queries: query.New(db.Readers())}
	t.Cleanup(func() {
		if err := errors.Join(h.queries.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	h.must(db.Write(func(tx *sqlconn.Tx) error {
		return errors.Join(tx.Exec(VectorTable), tx.Exec(kept.Schema), tx.Exec(Schema))
	}))
	h.start()
	return h
}

// start makes a writer and a reader of the existing tables.
func (h *harness) start() {
	h.t.Helper()
	h.writer = NewWriter()
	h.must(h.file.Write(h.writer.Setup))
	h.Reader = NewReader(h.queries, h.writer)
}

func (h *harness) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// write writes an entry, and commits it unless the outcome is an error.
func (h *harness) write(e ledger.Entry, outcome error) {
	h.t.Helper()
	workspace, _, id := e.Stream.Parts()
	err := h.file.Write(func(tx *sqlconn.Tx) error { return errors.Join(h.writer.Memory(tx, workspace, id, &e), outcome) })
	if !errors.Is(err, outcome) {
		h.t.Fatal(err)
	}
}

// add writes what a command makes of an item.
func (h *harness) add(n *note, c memory.Command) {
	h.t.Helper()
	h.at++
	h.write(n.entry(h.t, c, h.at), nil)
}

// everything is all rows of all tables.
func (h *harness) everything() (all []string) {
	h.t.Helper()
	for _, table := range Tables {
		err := h.queries.Each(h.t.Context(), func(rows *sql.Rows) error {
			names, err := rows.Columns()
			values := make([]any, len(names))
			for i := range values {
				values[i] = new(any)
			}
			err = errors.Join(err, rows.Scan(values...))
			row := table.Name
			for _, v := range values {
				row += fmt.Sprintf(" %v", *v.(*any))
			}
			all = append(all, row)
			return err
		}, "SELECT * FROM "+table.Name+" ORDER BY "+table.Order)
		h.must(err)
	}
	return all
}

// plan is how SQLite answers a query.
func (h *harness) plan(query string, args ...any) (steps []string) {
	h.t.Helper()
	h.must(h.queries.Each(h.t.Context(), func(rows *sql.Rows) error {
		var id, parent, other int
		var step string
		err := rows.Scan(&id, &parent, &other, &step)
		steps = append(steps, step)
		return err
	}, "EXPLAIN QUERY PLAN "+query, args...))
	return steps
}

// note makes the entries of a memory item.
type note struct {
	codec *ledger.Codec[memory.Event]
	state memory.State
	id    string
	now   time.Time
	n     uint64
}

func newNote(id string) *note {
	return &note{codec: ledger.NewCodec(memory.Events...), id: id, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func (n *note) entry(t testing.TB, c memory.Command, at ledger.Position) ledger.Entry {
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
		Position: at, Stream: ledger.StreamOf("default", "memory", n.id), Version: n.n, Time: n.now, Actor: ledger.Actor{Principal: "agent/ann"}, Events: encoded,
	}
}

func text(s string) memory.Content {
	return memory.Content{Text: s, Salt: "00112233445566778899aabbccddeeff"}
}

func storing(id, s string) memory.Remember {
	return memory.Remember{By: ann, ID: id, Scope: memory.Workspace, Tags: []string{"tagged"}, Content: text(s)}
}

// words are what the index of words holds.
func (h *harness) words() (all []string) {
	h.t.Helper()
	h.must(h.file.Write(func(tx *sqlconn.Tx) error {
		var errs []error
		for _, place := range places {
			errs = append(errs,
				tx.Exec("INSERT INTO "+place.index+"("+place.index+") VALUES('integrity-check')"),
				tx.Exec("CREATE VIRTUAL TABLE temp.word USING fts5vocab(main, "+place.index+", row)"),
				tx.Query(func(row sqlconn.Row) error { all = append(all, row.Text(0)); return nil }, "SELECT term FROM temp.word"),
				tx.Exec("DROP TABLE temp.word"))
		}
		return errors.Join(errs...)
	}))
	slices.Sort(all)
	return all
}

func TestNoWordOfAForgottenItemStaysInTheIndex(t *testing.T) {
	h := open(t)
	kept, gone := newNote("kept"), newNote("gone")
	h.add(kept, storing("kept", "apple"))
	h.add(gone, storing("gone", "swordfish apple"))
	h.add(gone, memory.Revise{By: ann, ID: "gone", Content: text("barracuda apple")})
	if got := h.words(); !slices.Equal(got, []string{"appl", "barracuda", "tag"}) {
		t.Errorf("before: %q", got)
	}
	if got := h.vocabulary(); !slices.Equal(got, []string{"apple 2", "barracuda 1", "tagged 2"}) {
		t.Errorf("vocabulary before: %q", got)
	}
	h.add(gone, memory.Forget{By: ann, ID: "gone"})
	if got := h.words(); !slices.Equal(got, []string{"appl", "tag"}) {
		t.Errorf("after: %q", got)
	}
	if got := h.vocabulary(); !slices.Equal(got, []string{"apple 1", "tagged 1"}) {
		t.Errorf("vocabulary after: %q", got)
	}
	for _, table := range []string{"view_memory", "view_memory_tag", "view_memory_text", "view_memory_text_content", "view_memory_title", "view_memory_title_content"} {
		var n int
		if err := h.file.Readers().QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil || n != 1 {
			t.Errorf("%s has %d rows, %v", table, n, err)
		}
	}
}

func TestSetupFindsTheWorkspacesWithMemory(t *testing.T) {
	h := open(t)
	for i, ws := range []string{"one", "two", "two", "three"} {
		n := newNote(fmt.Sprint(ws, i))
		e := n.entry(t, storing(n.id, "x"), ledger.Position(i+1)) //nolint:gosec // small
		e.Stream = ledger.StreamOf(ws, "memory", n.id)
		h.write(e, nil)
	}
	h.start()
	for ws, want := range map[string]bool{"one": true, "two": true, "three": true, "four": false, "": false} {
		if h.HasMemory(ws) != want {
			t.Errorf("%q remembers: %v", ws, !want)
		}
	}
}

func TestWordsThatDidNotCommitAreNotFound(t *testing.T) {
	h, never := open(t), open(t)
	n, full := newNote("m"), errors.New("disk full")
	for i, step := range []struct {
		command memory.Command
		found   string
	}{
		{storing("m", "apple"), "apple"},
		{memory.Revise{By: ann, ID: "m", Content: text("pear")}, "pear"},
		{memory.Tag{By: ann, ID: "m", Tags: []string{"ripe"}}, "ripe"},
		{memory.Forget{By: ann, ID: "m"}, ""},
	} {
		e := n.entry(t, step.command, ledger.Position(i+1)) //nolint:gosec // small
		h.write(e, full)
		h.write(e, nil)
		never.write(e, nil)
		found, err := h.Memory(t.Context(), "default", view.MemoryFilter{By: ann, Text: "apple pear ripe"})
		if err != nil || len(found) != min(len(step.found), 1) {
			t.Errorf("after entry %d: %v, %v", i+1, found, err)
		}
		if found, err = h.Memory(t.Context(), "default", view.MemoryFilter{By: ann, Text: step.found + "!"}); err != nil || len(found) != min(len(step.found), 1) {
			t.Errorf("%q after entry %d: %v, %v", step.found, i+1, found, err)
		}
		if got, want := h.everything(), never.everything(); !slices.Equal(got, want) {
			t.Errorf("after entry %d: %q, want %q as if nothing had failed", i+1, got, want)
		}
	}
}

func TestNoQueryReadsAllItems(t *testing.T) {
	h := open(t)
	check := func(about any, q clause, sorts bool) {
		t.Helper()
		sorted := 0
		for _, step := range h.plan(q.text, q.args...) {
			// The rows of a subquery are bounded where it reads a table, which is a step of its own.
			scan := strings.HasPrefix(step, "SCAN") && !strings.Contains(step, "VIRTUAL TABLE") && !strings.HasPrefix(step, "SCAN (subquery") && step != "SCAN newest"
			if strings.Contains(step, "TEMP B-TREE FOR ORDER BY") {
				sorted++
			}
			if scan || sorted > 0 && !sorts || sorted > 1 { // at most the answer is sorted, never what a leg reads
				t.Errorf("%+v: %s", about, step)
			}
		}
	}
	by := func(readsAny bool) identity.Principal {
		if readsAny {
			return identity.Principal{Role: identity.Auditor, Name: "ann"}
		}
		return identity.Principal{Role: identity.Agent, Name: "ann"}
	}
	for mask := range 512 {
		pick := func(bit int, s string) string {
			if mask&bit != 0 {
				return s
			}
			return ""
		}
		f := view.MemoryFilter{
			By:  memory.Reader{Principal: by(mask&1 != 0), Tasks: []string{"task_1"}},
			Tag: pick(2, "go"), Author: pick(4, "bob"), Task: pick(8, "task_1"), Conversation: pick(16, "c"), Scope: memory.Scope(pick(32, "task")),
			Text: pick(128, "word"),
		}
		if mask&64 != 0 {
			f.After = 7
		}
		f.Pinned = mask&256 != 0
		q, ok := selectMemory("main", f)
		if f.Text != "" {
			q, _ = selectByWords("main", f, []term{{match: `"word"`}})
		}
		nearest, some := selectNearest("main", f, "space")
		if !some {
			t.Errorf("%+v finds nothing near", f)
		}
		check(f, nearest, true)
		listed := f.Pinned || f.Tag+f.Author+f.Task+f.Conversation != ""
		if !ok {
			t.Errorf("%+v asks nothing", f)
		}
		check(f, q, f.Text == "" && !f.By.ReadsAny() && !listed) // a few tasks' items are sorted
	}
	for mask := range 16 {
		f := view.ConversationFilter{By: memory.Reader{Principal: by(mask&1 != 0), Tasks: []string{"task_1"}, Conversations: []string{"c"}}}
		for bit, field := range map[int]*string{2: &f.Agent, 4: &f.Task, 8: &f.After} {
			if mask&bit != 0 {
				*field = "x"
			}
		}
		check(f, selectConversations("main", f), !f.By.ReadsAny())
	}
	for q, args := range map[string][]any{
		workspacesWithMemory: nil, withoutVector: {"main", 0, "space", "[]", 8}, wordsOf: {"main", "agent/ann", "[]", 8}, wordsInflected: {"main", "agent/ann", "[]", 8}, wordsFrom: {"main", "agent/ann", "a", "b", 8}, wordsTo: {"main", "agent/ann", "a", "b", 8},
	} {
		for _, step := range h.plan(q, args...) {
			if strings.Contains(step, "SCAN view_memory") {
				t.Errorf("%s: %s", q, step)
			}
		}
	}
}

func TestAQueryIsBoundedAndItsWordsAreQuoted(t *testing.T) {
	queries := func(text string) (list []string) {
		for _, w := range matches(text) {
			list = append(list, w.match)
		}
		return list
	}
	for text, want := range map[string][]string{
		`say "hi" AND bye*`:        {`"say"`, `"hi"`, `"bye*"`},
		"x x\x00b\nX - !":          {`"x"`, `"b"`, `"X"`},
		"to be or not to be":       {`"to"`, `"be"`, `"or"`, `"not"`},
		"":                         nil,
		"\u202e \u0301 ()":         nil,
		"getUserByID":              {`"getUserByID" OR "get User By ID"`, `"get"`, `"User"`, `"ID"`},
		"word77":                   {`"word77" OR "word 77"`},
		"user_id":                  {`"user_id" OR "userid"`, `"user"`, `"id"`},
		"E-Mail":                   {`"E-Mail" OR "EMail"`},
		"Straße":                   {`"Strasse"`},
		"Grüße":                    {`"Grüsse" OR "gruesse"`},
		"Yıldız łódź":              {`"Yildiz"`, `"lódź"`},
		"\u0647\u064a\u0626\u062a": {"\"\u0647\u06cc\u0626\u062a\""}, // an Arabic yeh is the Persian one
		"fuer":                     {`"fuer" OR "fur"`},
		"连接池 API接口 税":              {`"连接"`, `"接池"`, `"API"`, `"接口"`, `"税" *`},
		"连接 pool":                  {`"pool"`, `"连接"`},
		"確認してください":                 {`"確認"`, `"認し"`},
		"ください":                     {`"くだ"`, `"ださ"`, `"さい"`},
	} {
		if got := queries(text); !slices.Equal(got, want) {
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

// between reports whether a character of a folded text ends a word of a search: words in quotes, too, are words, and so is what
// stands on either side of a byte that is not UTF-8.
func between(r rune) bool { return r == '"' || unicode.IsSpace(r) || unicode.IsControl(r) }

func FuzzASearchFindsWordsAndNeverFails(f *testing.F) {
	h := open(f)
	n := newNote("m")
	h.add(n, storing("m", "needle AND OR NOT NEAR title text"))
	for _, seed := range []string{`"`, "a\x00b", "NEAR(a b)", "title:needle", "needle*", "^needle", "\xff", "'; DROP", "{a b} : c", "-x"} {
		f.Add(seed, "tag")
	}
	f.Fuzz(func(t *testing.T, text, tag string) {
		for _, f := range []view.MemoryFilter{{Text: text}, {Text: text + " needle"}, {Tag: tag}, {Author: tag, Task: text, Conversation: tag}} {
			f.By = ann
			found, err := h.Memory(t.Context(), "default", f)
			if err != nil {
				t.Fatalf("%+v: %v", f, err)
			}
			if strings.HasSuffix(f.Text, " needle") && len(found) != 1 && len(strings.FieldsFunc(fold(f.Text), between)) <= view.MaxWords {
				t.Errorf("%q does not find the needle", f.Text)
			}
			if f.Text == "" && f.Author != "" && len(found) > 0 {
				t.Errorf("%+v finds %v", f, found)
			}
		}
	})
}

// BenchmarkMemory measures the search of an envelope in a workspace without memory, and one of 10,000 items.
func BenchmarkMemory(b *testing.B) {
	h := open(b)
	ask := func(name string, f view.MemoryFilter, want int) {
		f.By, f.Now = memory.Reader{Principal: identity.Principal{Role: identity.System, Name: "test"}, Tasks: []string{"task_1"}}, time.Now()
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if found, err := h.Memory(b.Context(), "default", f); err != nil || len(found) != want {
					b.Fatal(found, err)
				}
			}
		})
	}
	ask("nothing pinned", view.MemoryFilter{Pinned: true}, 0)
	for n := range 10_000 {
		h.add(newNote(fmt.Sprint("m", n)), storing(fmt.Sprint("m", n), fmt.Sprintf("common word%d word%d", n%100, n)))
	}
	h.add(newNote("typed"), storing("typed", "Kubernetes"))
	ask("nothing pinned of many", view.MemoryFilter{Pinned: true}, 0)
	ask("a list of many", view.MemoryFilter{Limit: 20}, 20)
	ask("a rare word", view.MemoryFilter{Text: "word7777", Limit: 20}, 1)
	ask("a usual word", view.MemoryFilter{Text: "word77", Limit: 20}, 20)
	near := make([]float32, 384)
	near[0], near[1] = 1, 0.5
	list, err := h.WithoutVector(b.Context(), "default", "space", time.Time{}, nil, 1)
	for n := range list {
		list[n].Values = near
	}
	for n := range 6000 {
		x := view.ItemVector{ID: fmt.Sprint("m", 9_999-n), At: ledger.Position(10_000 - n), Written: list[0].Written, Values: near} //nolint:gosec // small
		err = errors.Join(err, h.file.Write(func(tx *sqlconn.Tx) error { return PutVectors(tx, "default", "space", []view.ItemVector{x}) }),
			h.Sketch(b.Context(), "default", "space", []view.ItemVector{x}))
	}
	h.must(err)
	b.Run("the nearest", func(b *testing.B) {
		by := memory.Reader{Principal: identity.Principal{Role: identity.System, Name: "test"}}
		for b.Loop() {
			if found, err := h.Nearest(b.Context(), "default", view.MemoryFilter{By: by, Limit: 20}, "space", near, 0.5); err != nil || len(found) != 20 {
				b.Fatal(found, err)
			}
		}
	})
	ask("a mistyped word", view.MemoryFilter{Text: "kuberntes", Limit: 20}, 1)
	ask("the word of all", view.MemoryFilter{Text: "common", Limit: 20}, 20)
}

func TestARareWordFindsAnOldItemBesideAWordThatIsEverywhere(t *testing.T) {
	h := open(t)
	n := newNote("old")
	h.add(n, storing("old", "farm zebra"))
	for i := range wordRows + 100 {
		id := fmt.Sprintf("new%d", i)
		h.add(newNote(id), storing(id, "farm horse"))
	}
	for text, want := range map[string]string{"farm zebra": "old", "zebra farm": "old", "farm": fmt.Sprintf("new%d", wordRows+99)} {
		found, err := h.Memory(t.Context(), "default", view.MemoryFilter{By: ann, Text: text, Now: time.Now(), Limit: 5})
		if err != nil || len(found) != 5 || found[0].ID != want {
			t.Errorf("%q finds %v, %v; want %s first", text, found, err, want)
		}
	}
}

func TestAnOldTitleIsFoundBehindNewTextsWithItsWord(t *testing.T) {
	h := open(t)
	titled := storing("titled", "how it is done")
	titled.Content.Title = "zebra crossings"
	h.add(newNote("titled"), titled)
	for i := range wordRows + 100 {
		id := fmt.Sprintf("new%d", i)
		h.add(newNote(id), storing(id, "a zebra on the farm"))
	}
	found, err := h.Memory(t.Context(), "default", view.MemoryFilter{By: ann, Text: "zebra", Now: time.Now(), Limit: 5})
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
