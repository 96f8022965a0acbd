package sqlview

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// script runs statements in the database of embedded views.
func script(t *testing.T, log *sqlitelog.Log, s string) {
	t.Helper()
	if err := log.Write(t.Context(), func(tx *sqlconn.Tx) error { return tx.Exec(s) }); err != nil {
		t.Fatal(err)
	}
}

// behind is embedded views whose tables lack some of 101 tasks.
func behind(t *testing.T, path string) (*sqlitelog.Log, *following) {
	t.Helper()
	log, v := embedded(t, path)
	f := begin(t, log, v)
	f.hears(300, false)
	return log, f
}

// shows checks that lists have so many tasks, and nothing else is told.
func (f *following) shows(when string, want int) {
	f.Helper()
	list, err := f.Tasks(f.Context(), "default", view.TaskFilter{Limit: view.MaxPage})
	if err != nil || len(list) != want || f.Position() != f.last() || f.Err() != nil {
		f.Errorf("%s: %d tasks, %v, at %d of %d (%v); want %d", when, len(list), err, f.Position(), f.last(), f.Err(), want)
	}
}

func TestAListIsNotShownWhileTheTablesCannotBeWritten(t *testing.T) {
	log, f := behind(t, filepath.Join(t.TempDir(), "trapeze.db"))
	script(t, log, "PRAGMA max_page_count=1")
	for range 3 {
		if list, err := f.Tasks(t.Context(), "default", view.TaskFilter{}); !errors.Is(err, ledger.ErrFull) {
			t.Errorf("on a full disk: %d tasks, %v", len(list), err)
		}
		if f.Position() != f.last() {
			t.Errorf("the views are said to end at %d, and not at %d", f.Position(), f.last())
		}
	}
	script(t, log, "PRAGMA max_page_count=1000000")
	f.shows("when there is space", 101)
	wantSound(t, f.Views, 101)
}

func TestARebuildThatFailsLosesNothingThatTheTablesLack(t *testing.T) {
	log, f := behind(t, filepath.Join(t.TempDir(), "trapeze.db"))
	script(t, log, "CREATE TRIGGER stuck BEFORE DELETE ON view_task BEGIN SELECT RAISE(FAIL, 'no luck'); END")
	if err := f.Rebuild(t.Context()); err == nil {
		t.Error("the rebuild does not fail")
	}
	script(t, log, "DROP TRIGGER stuck")
	f.shows("after it", 101)
	f.hears(3, false)
	f.shows("with one more", 102)
	wantSound(t, f.Views, 102)
}

func TestAProjectionThatFailsAfterAScrubIsCaughtUp(t *testing.T) {
	log, f := behind(t, filepath.Join(t.TempDir(), "trapeze.db"))
	f.shows("before", 101)
	if err := log.Scrub(t.Context()); err != nil {
		t.Fatal(err)
	}
	script(t, log, "CREATE TRIGGER stuck BEFORE INSERT ON view_task BEGIN SELECT RAISE(FAIL, 'no luck'); END")
	f.projector.late.Ask()
	play(f, f.d, f.life, 1)
	if f.Err() == nil {
		t.Error("the projection does not fail")
	}
	script(t, log, "DROP TRIGGER stuck")
	if err := log.CatchUp(t.Context()); err != nil {
		t.Error(err)
	}
	f.shows("afterwards", 102)
	wantSound(t, f.Views, 102)
}

// Who begins to watch while an entry is being stored, and reads the record without it, is told of it.
func TestWhoBeginsToWatchDuringACommitIsTold(t *testing.T) {
	var v *Views
	var told []<-chan struct{}
	during := false
	log, v, err := OpenEmbedded(t.Context(), filepath.Join(t.TempDir(), "trapeze.db"), sqlitelog.Options{Committed: func(int, time.Duration) {
		if during {
			inbox, _ := v.Watch("default", "agent-3")
			task, _ := v.WatchTask("default", taskID(3))
			all, _ := v.Watch("", "")
			told = append(told, inbox, task, all)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(t, v, log)
	f := begin(t, log, v)
	during = true
	f.hears(1, false)
	during = false
	for i, ch := range told {
		select {
		case <-ch:
			if i == 2 {
				t.Error("watchers of all changes are told before the tables are written")
			}
		default:
			if i < 2 {
				t.Errorf("watcher %d is not told", i)
			}
		}
	}
}

// A view that fails when a reader has its tables written is repaired as one that fails at an append: lists go on meanwhile.
func TestAViewThatFailsWhenItIsReadIsRepaired(t *testing.T) {
	log, f := behind(t, filepath.Join(t.TempDir(), "trapeze.db"))
	script(t, log, "CREATE TRIGGER stuck BEFORE INSERT ON view_task BEGIN SELECT RAISE(ABORT, 'no luck'); END")
	for range 2 {
		list, err := f.Tasks(t.Context(), "default", view.TaskFilter{})
		if len(list) != 1 || err != nil || f.Err() == nil {
			t.Errorf("%d tasks, %v; %v", len(list), err, f.Err())
		}
	}
	script(t, log, "DROP TRIGGER stuck")
	if err := f.Heal(t.Context()); err != nil {
		t.Error(err)
	}
	f.shows("afterwards", 101)
	wantSound(t, f.Views, 101)
}

// A server that was killed starts where there is too little space for changes, and its lists lack nothing.
func TestListsLackNothingWhereNoChangeIsTaken(t *testing.T) {
	path, copied := filepath.Join(t.TempDir(), "trapeze.db"), filepath.Join(t.TempDir(), "trapeze.db")
	behind(t, path)
	for _, end := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + end)
		if err == nil {
			err = os.WriteFile(copied+end, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	log, v, err := OpenEmbedded(t.Context(), copied, sqlitelog.Options{MinFree: 1 << 60})
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(t, v, log)
	if list, err := v.Tasks(t.Context(), "default", view.TaskFilter{Limit: view.MaxPage}); err != nil || len(list) != 101 {
		t.Errorf("%d tasks are shown, %v; want 101", len(list), err)
	}
}

func TestOperatorsWhoWatchAreToldOfATicketAtOnce(t *testing.T) {
	both(t, func(f *following) {
		f.hears(2, false)
		desk, stop := f.Watch("default", "")
		defer stop()
		by := identity.Principal{Role: identity.Agent, Name: f.life.task.Owner}
		events, err := handoff.Decide(f.life.task, handoff.Ask{By: by, Epoch: f.life.task.Epoch, Question: "which one?"}, f.life.now)
		if err != nil {
			f.Fatal(err)
		}
		encoded, err := f.life.codec.EncodeAll(events)
		if err != nil {
			f.Fatal(err)
		}
		e := ledger.Entry{Stream: ledger.StreamOf("default", "task", f.life.id), Version: 3, Time: f.life.now, Actor: ledger.Actor{Principal: by.String()}, Events: encoded}
		if _, err := f.d.Append(f.Context(), e, f.life.at); err != nil {
			f.Fatal(err)
		}
		f.heard(true)
		<-desk
	})
}
