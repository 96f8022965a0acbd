package sqlview

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/cache"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/late"
)

// following is views of a ledger that have the entries of a first task in their tables.
type following struct {
	*testing.T
	*Views
	d    ledger.Ledger
	life *life
}

func newFollowing(t *testing.T, path string) *following {
	t.Helper()
	d := ledgertest.NewDouble(ledgertest.Faults{})
	return begin(t, d, follow(t, d, path))
}

func begin(t *testing.T, l ledger.Ledger, v *Views) *following {
	t.Helper()
	f := &following{T: t, Views: v, d: l, life: newLife()}
	play(t, f.d, f.life, 3)
	wantSound(t, f.Views, 1)
	return f
}

// both runs a test with views that follow, and with embedded ones.
func both(t *testing.T, test func(f *following)) {
	t.Run("following", func(t *testing.T) { test(newFollowing(t, "")) })
	t.Run("embedded", func(t *testing.T) {
		log, v := embedded(t, filepath.Join(t.TempDir(), "trapeze.db"))
		test(begin(t, log, v))
	})
}

// hears appends entries and waits until the views have them, and says whether the tables are to have them.
func (f *following) hears(entries int, written bool) {
	f.Helper()
	f.projector.late.Asked() // and forgets that a reader did
	play(f, f.d, f.life, entries)
	f.heard(written)
}

func (f *following) heard(written bool) {
	f.Helper()
	if err := f.Wait(f.Context(), f.last()); err != nil {
		f.Fatal(err)
	}
	if at := f.onDisk(); (at == f.last()) != written {
		f.Errorf("the tables end at %d and the record at %d, want them to be equal: %t", at, f.last(), written)
	}
}

func (f *following) last() ledger.Position {
	f.Helper()
	at, err := f.d.Last(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	return at
}

// onDisk is the position of the tables.
func (f *following) onDisk() (at ledger.Position) {
	f.Helper()
	if err := f.readers.QueryRowContext(f.Context(), "SELECT position FROM view_meta").Scan(&at); err != nil {
		f.Fatal(err)
	}
	return at
}

func TestTablesAreWrittenWhenTheyAreRead(t *testing.T) {
	both(t, func(f *following) {
		ctx := f.Context()
		reads := map[string]func() error{
			"tasks":   func() error { _, err := f.Tasks(ctx, "default", view.TaskFilter{}); return err },
			"states":  func() error { _, err := f.StateCounts(ctx, "default", view.TaskFilter{}); return err },
			"inbox":   func() error { _, err := f.Inbox(ctx, "default", "agent-0", view.InboxFilter{}); return err },
			"tickets": func() error { _, err := f.Tickets(ctx, "default", view.TicketFilter{}); return err },
			"loads":   func() error { _, err := f.AgentLoads(ctx, "default", nil); return err },
			"a carrier": func() error {
				_, err := f.ReferringTasks(ctx, "default", "sha256:00", view.ReferenceFilter{})
				return err
			},
			"due":     func() error { _, _, err := f.Due(ctx, f.life.now.Add(1000*time.Hour), 10); return err },
			"entries": func() error { _, err := f.EntriesOn(ctx, "default", f.life.now); return err },
			"digest":  func() error { _, _, err := f.Digest(ctx); return err },
		}
		for name, read := range reads {
			f.hears(4, false)
			if err := read(); err != nil {
				f.Errorf("%s: %v", name, err)
			}
			if f.onDisk() != f.last() {
				f.Errorf("%s are read from tables that lack what the views had heard", name)
			}
		}
		f.hears(4, false)
		if n, err := f.Workspaces(ctx); len(n) != 0 || err != nil || f.onDisk() == f.last() {
			f.Errorf("workspaces: %v, %v; the tables are written for them", n, err)
		}
		wantSound(f, f.Views, 1+(4*len(reads)+4+2)/3)
	})
}

func TestTheOpenTasksOfAPrincipalAreCountedWithoutTheTables(t *testing.T) {
	both(t, func(f *following) {
		for _, want := range []int{1, 1, 0, 1, 1, 0} {
			who := "agent/agent-" + map[int]string{0: "4", 1: "4", 2: "4", 3: "7", 4: "7", 5: "7"}[f.life.step-3]
			f.hears(1, false)
			if n, err := f.OpenTaskCount(f.Context(), "default", who); n != want || err != nil || f.onDisk() == f.last() {
				f.Errorf("%s has %d open tasks, %v; want %d", who, n, err, want)
			}
		}
		wantSound(f, f.Views, 3)
	})
}

func TestWhoWatchesIsToldAtOnce(t *testing.T) {
	both(t, func(f *following) {
		inbox, stop := f.Watch("default", "agent-6")
		defer stop()
		f.hears(3, false) // to agent-3
		f.hears(1, true)
		<-inbox
		if box, err := f.Inbox(f.Context(), "default", "agent-6", view.InboxFilter{}); len(box.Items) != 1 || err != nil {
			f.Errorf("inbox: %v, %v", box.Items, err)
		}
		one, stopOne := f.WatchTask("default", f.life.id)
		defer stopOne()
		f.hears(1, true)
		<-one
		<-inbox // the offer is gone
		stop()
		stopOne()
		f.hears(2, false)
	})
}

func taskID(n int) string { return fmt.Sprintf("task_%026d", n) }

// create appends an entry with a new task.
func (f *following) create(c handoff.Create) {
	f.Helper()
	c.By, c.Intent = identity.Principal{Role: identity.Operator, Name: "op"}, "x"
	events, err := handoff.Decide(task.Task{}, c, f.life.now)
	if err != nil {
		f.Fatal(err)
	}
	encoded, err := f.life.codec.EncodeAll(events)
	if err != nil {
		f.Fatal(err)
	}
	f.projector.late.Asked()
	e := ledger.Entry{Stream: ledger.StreamOf("default", "task", c.Task), Version: 1, Time: f.life.now, Actor: ledger.Actor{Principal: "operator/op"}, Events: encoded}
	if _, err := f.d.Append(f.Context(), e, 0); err != nil {
		f.Fatal(err)
	}
}

func TestATimerThatIsDueSoonIsToldAtOnce(t *testing.T) {
	both(t, func(f *following) {
		anything, stop := f.Watch("", "")
		defer stop()
		later := f.life.now.Add(time.Hour)
		f.create(handoff.Create{Task: taskID(901), Deadline: later})
		f.heard(false)
		if due, next, err := f.Due(f.Context(), f.life.now, 10); len(due) != 0 || !next.Equal(later) || err != nil {
			f.Errorf("due: %v, then %v, %v; want nothing, then %v", due, next, err, later)
		}
		<-anything
		f.create(handoff.Create{Task: taskID(902), Deadline: later.Add(time.Hour)})
		f.heard(false)
		if _, next, err := f.Due(f.Context(), f.life.now, 10); !next.Equal(later) || err != nil || f.onDisk() == f.last() {
			f.Errorf("then %v, %v; want %v, from the tables as they are", next, err, later)
		}
		f.create(handoff.Create{Task: taskID(903), Deadline: f.life.now.Add(2 * time.Second)})
		f.heard(true)
		<-anything
	})
}

func TestOthersThatWaitForATaskAreKnownAtOnce(t *testing.T) {
	both(t, func(f *following) {
		f.hears(1, false)
		if !f.noDependents.Load() {
			f.Fatal("something waits")
		}
		f.create(handoff.Create{Task: taskID(904), Dependencies: []event.Dependency{{Task: f.life.id, State: event.Pending}}})
		f.heard(true)
		if list, err := f.Dependents(f.Context(), "default", f.life.id); len(list) != 1 || err != nil {
			f.Errorf("dependents: %v, %v", list, err)
		}
	})
}

func TestTheTablesLackFewEntriesForAMoment(t *testing.T) {
	t.Parallel() // it waits two seconds
	path := filepath.Join(t.TempDir(), "views.db")
	f := newFollowing(t, path)
	f.hears(2, false)
	for end := time.Now().Add(time.Minute); f.onDisk() != f.last(); <-time.After(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the tables are never written")
		}
	}
	f.follower.writing.Lock()
	f.projector.late.More(late.After - 2)
	f.follower.writing.Unlock()
	f.hears(1, false)
	f.hears(1, true)
	f.hears(2, false)
	last := f.last()
	closeAll(t, f)
	db, err := sqlitelog.OpenDatabase(path, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(t, db)
	var at ledger.Position
	if err := db.Readers().QueryRowContext(t.Context(), "SELECT position FROM view_meta").Scan(&at); err != nil || at != last {
		t.Errorf("after Close the tables end at %d, %v, want %d", at, err, last)
	}
}

func TestWhatAReaderCouldNotWriteIsHeardAgain(t *testing.T) {
	t.Parallel() // it waits a second
	f := newFollowing(t, "")
	script := func(s string) {
		if err := f.write(t.Context(), func(tx *sqlconn.Tx) error { return tx.Exec(s) }); err != nil {
			t.Fatal(err)
		}
	}
	script("CREATE TRIGGER full BEFORE INSERT ON view_task BEGIN SELECT RAISE(ABORT, 'no luck'); END")
	f.hears(2, false)
	at := f.last()
	if _, err := f.Tasks(t.Context(), "default", view.TaskFilter{}); err == nil || !strings.Contains(err.Error(), "no luck") {
		t.Errorf("a list that lacks what the views had heard: %v", err)
	}
	if err := f.Wait(t.Context(), at); err == nil {
		t.Error("the views are said to have what is lost")
	}
	script("DROP TRIGGER full")
	soon, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := f.hub.Wait(soon, f.last(), func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	wantSound(t, f.Views, 2)
}

func TestNothingIsHeardBehindWhatIsLost(t *testing.T) {
	f := newFollowing(t, "")
	play(t, f.d, f.life, 2)
	entries, err := f.d.Read(t.Context(), f.last()-1, 1)
	if err != nil {
		t.Fatal(err)
	}
	f.heard(false)
	f.follower.writing.Lock()
	f.follower.lost = true
	f.follower.writing.Unlock()
	if f.follower.project(entries) == nil {
		t.Error("an entry is projected behind a gap")
	}
}

func TestWhatWasHeardBeforeARebuildThatFailedIsHeardAgain(t *testing.T) {
	t.Parallel() // it waits a second
	f := newFollowing(t, "")
	script := func(s string) {
		if err := f.write(t.Context(), func(tx *sqlconn.Tx) error { return tx.Exec(s) }); err != nil {
			t.Fatal(err)
		}
	}
	script("CREATE TRIGGER stuck BEFORE DELETE ON view_task BEGIN SELECT RAISE(ABORT, 'no luck'); END")
	f.hears(2, false)
	if err := f.Rebuild(t.Context()); err == nil || !strings.Contains(err.Error(), "no luck") {
		t.Fatalf("the rebuild returns %v", err)
	}
	script("DROP TRIGGER stuck")
	f.trusted() // the views are at the position of their tables again since Rebuild failed
	wantSound(t, f.Views, 2)
}

func TestAPanicWhileEntriesAreHeardEndsNothing(t *testing.T) {
	t.Parallel() // it waits a second
	f := newFollowing(t, "")
	f.follower.writing.Lock()
	f.projector.tasks = cache.Cache[ledger.Stream, *taskFold]{} // a bug
	f.follower.writing.Unlock()
	play(t, f.d, f.life, 2)
	if err := f.Wait(t.Context(), f.last()); err == nil || !strings.Contains(err.Error(), "panicked") {
		t.Fatalf("the views fail with %v", err)
	}
	f.trusted()
	wantSound(t, f.Views, 2)
}

// trusted waits until the views have all entries and no failure.
func (f *following) trusted() {
	f.Helper()
	soon, cancel := context.WithTimeout(f.Context(), time.Minute)
	defer cancel()
	if err := f.hub.Wait(soon, f.last(), func() error { return nil }); err != nil {
		f.Fatal(err)
	}
}

// A reader who has been told of a position is not shown the tables from before it.
func TestNobodyIsShownLessThanTheViewsHad(t *testing.T) {
	f := newFollowing(t, "")
	f.hears(2, false)
	f.follower.writing.Lock()
	f.follower.lost = true // it is not heard again now
	f.follower.forget()
	f.follower.writing.Unlock()
	_, err := f.Tasks(t.Context(), "default", view.TaskFilter{})
	if !errors.Is(err, ledger.ErrUnavailable) {
		t.Errorf("a list without what the views had: %v", err)
	}
	if _, _, err := f.Due(t.Context(), f.life.now, 10); !errors.Is(err, ledger.ErrUnavailable) {
		t.Errorf("timers without those that the views had: %v", err)
	}
}

// A call that waits for the tables gives up its turn, and its end ends the wait.
func TestACallThatWaitsForTheTablesCanEnd(t *testing.T) {
	f := newFollowing(t, "")
	f.hears(1, false)
	f.follower.writing.Lock()
	of := &ledgertest.Turn{Held: true}
	ctx, end := context.WithCancel(ledger.WithTurn(t.Context(), of))
	end()
	if _, err := f.Tasks(ctx, "default", view.TaskFilter{}); !errors.Is(err, context.Canceled) || of.Resumed != 1 {
		t.Errorf("%v, and it waited for another turn %d times", err, of.Resumed)
	}
	f.follower.writing.Unlock()
}

// What a server had not written when it was killed is in its views when it is there again.
func TestWhatTheTablesLackAfterACrashIsProjectedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trapeze.db")
	log, v := embedded(t, path)
	f := begin(t, log, v)
	f.hears(5, false)
	copied := filepath.Join(t.TempDir(), "trapeze.db")
	for _, end := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + end)
		if err == nil {
			err = os.WriteFile(copied+end, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	_, again := embedded(t, copied)
	wantSound(t, again, 3)
}

// Readers who come one after another do not each wait for a transaction.
func TestWhatIsReadOftenIsWrittenAtOnce(t *testing.T) {
	log, v := embedded(t, filepath.Join(t.TempDir(), "trapeze.db"))
	f := begin(t, log, v)
	for range 3 {
		f.hears(1, false)
		if _, err := f.Tasks(t.Context(), "default", view.TaskFilter{}); err != nil {
			t.Fatal(err)
		}
		play(f, f.d, f.life, 1)
		f.heard(true)
	}
}
