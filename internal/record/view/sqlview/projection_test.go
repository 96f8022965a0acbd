package sqlview

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/rowjson"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/search"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/tasklist"
)

// play appends entries of lives: the first three make one complete handoff, and so on.
func play(t testing.TB, l ledger.Ledger, life *life, entries int) {
	t.Helper()
	for range entries {
		e := life.next(t, life.step)
		at, err := l.Append(t.Context(), e, life.at)
		if err != nil {
			t.Fatal(err)
		}
		life.at = at
	}
}

func wantSound(t testing.TB, v *Views, tasks int) {
	t.Helper()
	if err := v.complete(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := v.Err(); err != nil {
		t.Error(err)
	}
	if err := v.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	all, err := v.Tasks(t.Context(), "default", view.TaskFilter{Limit: view.MaxPage})
	if err != nil || len(all) != tasks {
		t.Errorf("%d tasks, %v; want %d", len(all), err, tasks)
	}
}

func TestEmbeddedViewsGoOnAfterARestartInTheMiddleOfATask(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trapeze.db")
	log, v := embedded(t, path)
	life := newLife()
	play(t, log, life, 4)
	if err := v.SaveCursor(t.Context(), "courier", 3); err != nil {
		t.Fatal(err)
	}
	play(t, log, life, 1)
	closeAll(t, v, log)
	log, v = embedded(t, path)
	if at := v.Position(); at != 5 {
		t.Errorf("starts at %d, want 5", at)
	}
	if at, err := v.Cursor(t.Context(), "courier"); err != nil || at != 3 {
		t.Errorf("cursor at %d, %v; want 3", at, err)
	}
	play(t, log, life, 1)
	wantSound(t, v, 2)
}

func TestViewsOfAnotherVersionAreRebuiltAtTheStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trapeze.db")
	log, v := embedded(t, path)
	play(t, log, newLife(), 3)
	if err := v.SaveCursor(t.Context(), "courier", 3); err != nil {
		t.Fatal(err)
	}
	play(t, log, newLife2(), 2)
	spoil := func(script string) {
		t.Helper()
		if err := log.Write(t.Context(), func(tx *sqlconn.Tx) error { return tx.Exec(script) }); err != nil {
			t.Fatal(err)
		}
	}
	spoil("PRAGMA ignore_check_constraints = 1; UPDATE view_meta SET schema = 0; PRAGMA ignore_check_constraints = 0; DELETE FROM view_task")
	closeAll(t, v, log)
	log, v = embedded(t, path)
	wantSound(t, v, 2)
	if at, err := v.Cursor(t.Context(), "courier"); err != nil || at != 3 {
		t.Errorf("cursor at %d, %v; want 3", at, err)
	}
	spoil("DELETE FROM view_involved WHERE agent = 'agent-0'")
	if err := v.Verify(t.Context()); err == nil || !strings.Contains(err.Error(), "view_involved") {
		t.Errorf("a lost item was not noticed: %v", err)
	}
	spoil("UPDATE view_meta SET position = 99")
	closeAll(t, v, log)
	_, v = embedded(t, path)
	wantSound(t, v, 2)
}

// newLife2 makes other tasks than newLife.
func newLife2() *life {
	l := newLife()
	l.step = 300
	return l
}

func TestAFailedProjectionIsHealed(t *testing.T) {
	log, v := embedded(t, filepath.Join(t.TempDir(), "trapeze.db"))
	life := newLife()
	play(t, log, life, 2)
	load := v.projector.load
	v.projector.size, v.projector.load = 1, func(context.Context, ledger.Stream, ledger.Position, int) ([]ledger.Entry, error) {
		return nil, errors.New("no luck")
	}
	if err := log.Write(t.Context(), func(*sqlconn.Tx) error { v.projector.Forget(); return nil }); err != nil {
		t.Fatal(err)
	}
	waiting := make(chan error, 1)
	go func() { waiting <- v.Wait(t.Context(), 3) }()
	play(t, log, life, 1)
	if err := <-waiting; err == nil || !strings.Contains(err.Error(), "no luck") {
		t.Errorf("the wait ended with %v", err)
	}
	if err := v.Err(); err == nil {
		t.Error("the views are said to be sound")
	}
	v.projector.load = load
	if err := v.Heal(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantSound(t, v, 1)
}

func TestWhatDidNotCommitIsForgotten(t *testing.T) {
	db, err := sqlitelog.OpenDatabase("", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(t, db)
	d := ledgertest.NewDouble(ledgertest.Faults{})
	life := newLife()
	play(t, d, life, 3)
	entries, err := d.Read(t.Context(), 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	p := newProjector(func(done) {})
	p.load = d.Stream
	if err := db.Write(func(tx *sqlconn.Tx) error { _, err := p.Setup(tx); return err }); err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	for i := range entries {
		err := db.Write(func(tx *sqlconn.Tx) error { return errors.Join(p.project(tx, entries[i:i+1]), full) })
		if !errors.Is(err, full) {
			t.Fatal(err)
		}
		if err := db.Write(func(tx *sqlconn.Tx) error { return p.project(tx, entries[i:i+1]) }); err != nil {
			t.Fatal(err)
		}
	}
	v := &Views{ledger: d, readers: db.Readers()}
	if err := v.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAnAgentForgetsWhatDidNotCommit(t *testing.T) {
	db, err := sqlitelog.OpenDatabase("", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(t, db)
	p := newProjector(func(done) {})
	project := func(position ledger.Position, outcome error, event agent.Event) {
		t.Helper()
		encoded, err := p.agents.EncodeAll([]agent.Event{event})
		if err != nil {
			t.Fatal(err)
		}
		entries := []ledger.Entry{{Position: position, Stream: "main/agent/bob", Version: uint64(position), Events: encoded}}
		err = db.Write(func(tx *sqlconn.Tx) error { return errors.Join(p.project(tx, entries), outcome) })
		if !errors.Is(err, outcome) {
			t.Fatal(err)
		}
	}
	if err := db.Write(func(tx *sqlconn.Tx) error { _, err := p.Setup(tx); return err }); err != nil {
		t.Fatal(err)
	}
	project(1, nil, agent.Registered{Name: "bob"})
	project(2, errors.New("disk full"), agent.Removed{})
	project(2, nil, agent.PresenceLapsed{})
	v := &Views{tables: query.New(db.Readers()), db: query.New(db.Readers()), projector: p}
	defer closeAll(t, v)
	if agents, err := v.Agents(t.Context(), "main"); err != nil || len(agents) != 1 || !agents[0].Lapsed {
		t.Errorf("agents: %+v, %v", agents, err)
	}
}

func TestLiveTasksBeyondTheCacheAreForgotten(t *testing.T) {
	log, v := embedded(t, filepath.Join(t.TempDir(), "trapeze.db"))
	v.projector.size = 2
	v.projector.Forget()
	for n := range 9 {
		life := newLife()
		life.step = 3 * n
		play(t, log, life, 1)
		_ = v.catchUp(t.Context()) // wantSound looks
	}
	if n := v.projector.tasks.Len(); n > 4 {
		t.Errorf("%d tasks in memory", n)
	}
	wantSound(t, v, 9)
}

func TestANoticeOfATaskThatHasJustEndedIsSeenWithoutAReadOfTheRecord(t *testing.T) {
	log, v := embedded(t, filepath.Join(t.TempDir(), "trapeze.db"))
	life := newLife()
	play(t, log, life, 3)
	v.projector.load = func(context.Context, ledger.Stream, ledger.Position, int) ([]ledger.Entry, error) {
		return nil, errors.New("read")
	}
	if box, err := v.Inbox(t.Context(), "default", "agent-1", view.InboxFilter{}); err != nil || len(box.Items) != 1 {
		t.Fatalf("before: %+v, %v", box, err)
	}
	seen, err := handoff.Decide(life.task, handoff.SeeNotice{By: identity.Principal{Role: identity.Agent, Name: "agent-1"}, Notice: 1}, life.now)
	if err != nil {
		t.Fatal(err)
	}
	events, err := life.codec.EncodeAll(seen)
	if err != nil {
		t.Fatal(err)
	}
	e := ledger.Entry{Stream: ledger.StreamOf("default", "task", life.id), Version: 4, Time: life.now, Actor: ledger.Actor{Principal: "agent/agent-1"}, Events: events}
	if _, err := log.Append(t.Context(), e, life.at); err != nil {
		t.Fatal(err)
	}
	if err := v.Err(); err != nil {
		t.Error(err)
	}
	if box, err := v.Inbox(t.Context(), "default", "agent-1", view.InboxFilter{}); err != nil || len(box.Items) != 0 {
		t.Errorf("afterwards: %+v, %v", box, err)
	}
}

func TestNobodyIsWokenTooEarly(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	if roundUp(at) != at.UnixMicro() || roundUp(at.Add(1)) != at.UnixMicro()+1 {
		t.Errorf("%d and %d", roundUp(at), roundUp(at.Add(1)))
	}
}

func TestAFollowerGoesOnWhereItsFileEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "views.db")
	d := ledgertest.NewDouble(ledgertest.Faults{Gaps: 2})
	life := newLife()
	play(t, d, life, 4)
	v := follow(t, d, path)
	wantSound(t, v, 2)
	closeAll(t, v)
	play(t, d, life, 2)
	v = follow(t, d, path)
	wantSound(t, v, 2)
	closeAll(t, v)
	other := ledgertest.NewDouble(ledgertest.Faults{})
	play(t, other, newLife2(), 1)
	v = follow(t, other, path) // the file is ahead of this ledger
	wantSound(t, v, 1)
}

func TestManyWritersAtOnceGiveTheViewsOfOneAfterTheOther(t *testing.T) {
	log, v := embedded(t, filepath.Join(t.TempDir(), "trapeze.db"))
	second := follow(t, log, "")
	var wg sync.WaitGroup
	const writers, tasks = 16, 10
	for w := range writers {
		wg.Go(func() {
			life := newLife()
			for n := range tasks * 3 {
				e := life.next(t, w*tasks+n/3)
				at, err := log.Append(t.Context(), e, life.at)
				if err != nil {
					t.Error(err)
					return
				}
				life.at = at
			}
		})
	}
	wg.Wait()
	wantSound(t, v, writers*tasks)
	wantSound(t, second, writers*tasks)
	a, _, errA := v.Digest(t.Context())
	b, _, errB := second.Digest(t.Context())
	if a != b || errA != nil || errB != nil {
		t.Errorf("embedded views and those that follow differ: %v, %v", errA, errB)
	}
}

func TestAThousandWaitersHoldNoConnection(t *testing.T) {
	log, v := embedded(t, filepath.Join(t.TempDir(), "trapeze.db"))
	var wg sync.WaitGroup
	watching := make(chan struct{}, 1000)
	for range cap(watching) {
		wg.Go(func() {
			changed, stop := v.Watch("default", "agent-0")
			defer stop()
			watching <- struct{}{}
			<-changed
			if box, err := v.Inbox(t.Context(), "default", "agent-0", view.InboxFilter{Limit: 1}); err != nil || len(box.Items) != 1 {
				t.Errorf("inbox: %v, %v", box, err)
			}
		})
	}
	for range cap(watching) {
		<-watching
	}
	play(t, log, newLife(), 1)
	wg.Wait()
	if open := v.readers.Stats().OpenConnections; open > 4 {
		t.Errorf("%d connections", open)
	}
}

func TestNoQuestionAboutWhatTasksCarryLooksAtAllOfThem(t *testing.T) {
	_, v := embedded(t, filepath.Join(t.TempDir(), "trapeze.db"))
	check := func(query string, args ...any) {
		for _, step := range plan(t, v, query, args...) {
			if strings.HasPrefix(step, "SCAN") || strings.Contains(step, "TEMP B-TREE FOR ORDER BY") {
				t.Errorf("%s: %s", query, step)
			}
		}
	}
	check(search.Granting, "main", "bob", 5)
	for _, principal := range []string{"", "agent/bob"} {
		query, args := search.Carriers("main", "c", principal, 5)
		check(query, args...)
	}
}

func TestNoQuestionLooksAtEveryTask(t *testing.T) {
	_, v := embedded(t, filepath.Join(t.TempDir(), "trapeze.db"))
	for _, state := range append(event.States.Values(), "") {
		for mask := range 32 {
			pick := func(bit int, s string) string {
				if mask&bit != 0 {
					return s
				}
				return ""
			}
			f := view.TaskFilter{
				State: state, Live: mask&1 != 0, Owner: pick(2, "bob"), Parent: pick(4, "task_1"), Involving: pick(8, "ann"),
				After: pick(16, "task_2"),
			}
			query, args := tasklist.Page("t.row", "main", f)
			sorts := f.Parent == "" && f.Owner != "" && (f.Live || state == event.Executing || state == event.HandingOff) // few
			for _, step := range plan(t, v, query, args...) {
				if strings.HasPrefix(step, "SCAN") || strings.Contains(step, "TEMP B-TREE") && !sorts {
					t.Errorf("%+v: %s", f, step)
				}
			}
		}
	}
}

// plan is how SQLite answers a query.
func plan(t *testing.T, v *Views, query string, args ...any) (steps []string) {
	t.Helper()
	rows, err := v.readers.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, args...) //nolint:sqlclosecheck // closeAll
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(t, rows)
	for rows.Next() {
		var id, parent, other int
		var step string
		if err := rows.Scan(&id, &parent, &other, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return steps
}

func TestRowsAreWrittenAsTheirTypeSays(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	for _, task := range []view.TaskRow{
		{},
		{
			ID: "task_1", State: event.Parked, Intent: "say \"hé\" \\ <b>\n\x00\u2028", Owner: "bob", Epoch: 1 << 60, Requester: "agent/ann",
			Priority: event.High, Parent: "task_0", Handoff: "task_1.h2", Stage: event.Offered, Kind: event.Warm, To: []string{"a", "b\"", "c"},
			Hops: 3, Created: now, Updated: now.Add(time.Nanosecond), Deadline: now.Add(time.Hour),
			Parked: &view.ParkedRow{Cause: event.ParkLimit, Detail: "no", Since: now, Route: []string{"a", "b\"", "c"}}, At: 7,
		},
	} {
		var got view.TaskRow
		if err := json.Unmarshal(rowjson.AppendTask(nil, &task), &got); err != nil {
			t.Fatal(err)
		}
		want, _ := json.Marshal(task)
		again, _ := json.Marshal(got)
		if string(want) != string(again) {
			t.Errorf("got  %s\nwant %s", again, want)
		}
	}
	for _, item := range []view.Item{
		{},
		{
			Type: view.ItemOffer, ID: "task_1.h2", Task: "task_1", Offer: 3, Epoch: 1 << 60, From: "ann", Kind: event.Warm, Claim: true, Channel: "news",
			Reason: event.ReasonError, Detail: "\"why\"", Intent: "<hé>\n", Priority: event.High, Envelope: "sha256:1", Seen: true, Since: now,
			Ends: now.Add(time.Nanosecond), At: 7,
		},
		{Type: view.ItemStranded, ID: "task_2", Task: "task_1", Since: now}, // about a child
	} {
		got := view.Item{ID: item.ID, At: item.At}
		if err := rowjson.ReadItem(&got, rowjson.AppendItem(nil, &item)); err != nil || got != item {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, item)
		}
	}
	if n := reflect.TypeFor[view.Item]().NumField(); n != 18 {
		t.Errorf("view.Item has %d fields: its key and AppendItem have 18", n)
	}
	if n := len(fields(t, view.TaskRow{To: []string{"x"}, Parked: &view.ParkedRow{}, Owner: "x", Parent: "x", Handoff: "x", Stage: "x", Kind: "x", Deadline: now})); n != 18 {
		t.Errorf("view.TaskRow has %d fields: appendTask writes 18", n)
	}
}

func fields(t *testing.T, task view.TaskRow) map[string]any {
	t.Helper()
	b, err := json.Marshal(task)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// cursorOnDisk is the cursor as a process that starts now would read it.
func cursorOnDisk(t *testing.T, v *Views) (at ledger.Position) {
	t.Helper()
	err := v.readers.QueryRowContext(t.Context(), "SELECT coalesce(max(position), 0) FROM view_cursor").Scan(&at)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestACursorIsWrittenSoonAndWhenTheViewsAreClosed(t *testing.T) {
	t.Parallel() // it waits a second
	kinds := map[string]func(t *testing.T, l *sqlitelog.Log, path string) (own *sqlitelog.Log, v *Views){
		"embedded": func(t *testing.T, _ *sqlitelog.Log, path string) (*sqlitelog.Log, *Views) { return embedded(t, path) },
		"following": func(t *testing.T, l *sqlitelog.Log, path string) (*sqlitelog.Log, *Views) {
			return nil, follow(t, l, path)
		},
	}
	for name, open := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other, _ := embedded(t, filepath.Join(t.TempDir(), "other.db"))
			path := filepath.Join(t.TempDir(), "trapeze.db")
			own, v := open(t, other, path)
			if err := v.SaveCursor(t.Context(), "courier", 3); err != nil {
				t.Fatal(err)
			}
			for end := time.Now().Add(time.Minute); cursorOnDisk(t, v) != 3; <-time.After(20 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("the cursor is never written")
				}
			}
			if err := v.SaveCursor(t.Context(), "courier", 4); err != nil {
				t.Fatal(err)
			}
			closeAll(t, v)
			if own != nil {
				closeAll(t, own)
			}
			_, v = open(t, other, path)
			if at, err := v.Cursor(t.Context(), "courier"); err != nil || at != 4 {
				t.Errorf("cursor at %d, %v; want 4", at, err)
			}
		})
	}
}
