//go:build slow

package server

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// damages changes a bit of an entry of a task that two agents had, on the disk.
func (st *stage) damages() {
	st.Helper()
	coder, second := st.coder(), st.as("second", client.AgentSpec{})
	r := st.hands("coder", client.CreateInput{}, client.SendInput{})
	got, err := coder.Accept(st.Context(), r.Handoff, client.AcceptInput{})
	if err != nil {
		st.Fatal(err)
	}
	if r, err = coder.Send(st.Context(), r.Task, client.SendInput{Epoch: got.Epoch, To: []string{"second"}}); err != nil {
		st.Fatal(err)
	}
	st.takes(second, r.Handoff)
	st.restart(func(dir string) {
		entries := stored(st.T, dir, r.Task)
		st.at = slices.Sorted(maps.Keys(entries))[1] // the first acceptance
		st.was = entries[st.at]
		changed := slices.Clone(st.was)
		changed[len(changed)-1] ^= 1
		store(st.T, dir, st.at, changed)
	})
}

// repairs has an operator bring the entry back, from a backup.
func (st *stage) repairs() {
	st.Helper()
	st.restart(func(dir string) { store(st.T, dir, st.at, st.was) })
}

// forges changes a bit of the tree, or changes it back.
func (st *stage) forges() {
	st.Helper()
	st.coder()
	st.restart(func(dir string) {
		path := filepath.Join(dir, "proof", "tree")
		b, err := os.ReadFile(path) //nolint:gosec // the test's directory
		if err != nil {
			st.Fatal(err)
		}
		b[5] ^= 1
		if err := os.WriteFile(path, b, 0o600); err != nil {
			st.Fatal(err)
		}
	})
}

// forgets spoils rows of the views: of a task that asks a person, and of one that is offered.
func (st *stage) forgets(spoil string) {
	st.Helper()
	st.asks()
	st.as("reader", client.AgentSpec{})
	st.hands("reader", client.CreateInput{}, client.SendInput{})
	st.restart(func(dir string) { st.changes(dir, spoil) })
}

// rebuilds has the views built again from the ledger, as an operator does with trapeze serve --rebuild-views.
func (st *stage) rebuilds() {
	st.Helper()
	st.config.RebuildViews = true
	st.restart(func(string) {})
	st.config.RebuildViews = false
}

// breaks has the views take no more entries, and entries follow.
func (st *stage) breaks() {
	st.Helper()
	st.coder()
	// While the server runs: none starts on such a file.
	st.changes(st.config.DataDir, "PRAGMA busy_timeout = 5000; CREATE TRIGGER broken BEFORE UPDATE ON view_meta BEGIN SELECT RAISE(ABORT, 'the view is broken'); END")
	coder := st.coder()
	for range 51 {
		if _, err := coder.CreateTask(st.Context(), client.CreateInput{Intent: "work", Start: true}); err != nil {
			st.Fatal(err)
		}
	}
	st.judge = func() {
		st.Helper()
		if err := st.s.judge(st.Context()); err != nil {
			st.Fatal(err)
		}
	}
}

// continues has the views take entries again: at its start, the server gives them those that they lack.
func (st *stage) continues() {
	st.Helper()
	st.restart(func(dir string) { st.changes(dir, "DROP TRIGGER broken") })
	st.judge = nil
}

// releases lets the figures follow again.
func (st *stage) releases() {
	st.Helper()
	close(st.gate.open)
	last, err := st.s.log.Last(st.Context())
	if err == nil {
		err = st.counted.Wait(st.Context(), last)
	}
	if err != nil {
		st.Fatal(err)
	}
}

// TestTheViewsAreNotBlamedWhileTheRecordDiffers: to build them again from a damaged ledger is what nobody should do.
func TestTheViewsAreNotBlamedWhileTheRecordDiffers(t *testing.T) {
	t.Parallel()
	of := stories()["views-disagree"]
	st := newStage(t, &of)
	st.begin(&of)
	st.forges()
	st.await("record-differs", true, most{8, 15 * time.Second})
	for range 8 {
		st.advance(15 * time.Second)
	}
	if a, raised := st.found("views-disagree"); raised {
		t.Errorf("%+v", a)
	}
	st.forges()
	if a := st.await("views-disagree", true, of.raises); !strings.Contains(a.Do, "record-differs") {
		t.Error(a.Do)
	}
}
