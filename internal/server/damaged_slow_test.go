//go:build slow

package server

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// TestAChangedBitIsNamedAndNeverAnswered flips bits in one entry of a task after the other, on the disk of a server that is stopped. What the server then
// answers about the task is what it was before, or an error that names an entry.
func TestAChangedBitIsNamedAndNeverAnswered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	task := paid(t, s)
	want := told(t, s, task)
	for what, got := range want {
		if strings.HasPrefix(got, "error") {
			t.Fatalf("%s: %s", what, got)
		}
	}
	stop(t, s)
	entries := stored(t, dir, task)
	named := 0
	for at, b := range entries {
		for i := range 3 { // the checksum, the place or the length, and the content
			changed := bytes.Clone(b)
			changed[[]int{1, 7, len(b) - len(b)/(at%5+3)}[i]] ^= 1 << (at % 8)
			store(t, dir, at, changed)
			s := open(t, dir)
			for what, got := range told(t, s, task) {
				switch {
				case got == want[what]:
				case strings.HasPrefix(got, "error") && strings.Contains(got, "damaged"):
					named++
				default:
					t.Errorf("entry %d, change %d: %s is %s, was %s", at, i, what, got, want[what])
				}
			}
			stop(t, s)
			store(t, dir, at, b)
		}
	}
	if least := 3 * 3 * len(entries); len(entries) < 3 || named < least-3 { // a content that the owner was given first needs no later entry
		t.Errorf("%d answers name one of %d damaged entries, want %d", named, len(entries), least)
	}
}

func TestTheViewsAreNotBuiltAgainFromADamagedRecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	task := paid(t, s)
	stop(t, s)
	for at, b := range stored(t, dir, task) {
		changed := bytes.Clone(b)
		changed[len(b)-1] ^= 1
		store(t, dir, at, changed)
		s, err := Open(t.Context(), Config{DataDir: dir, Addr: "127.0.0.1:0", RebuildViews: true})
		var damaged *ledger.Damaged
		if s != nil || !errors.As(err, &damaged) || int(damaged.Position) != at { //nolint:gosec // small
			t.Fatalf("%v, %v", s, err)
		}
		s = open(t, dir) // the views are there as before
		c, err := client.New(s.URL(), token(t, s), client.Options{Retries: -1})
		if err != nil {
			t.Fatal(err)
		}
		if page, err := c.Tasks(t.Context(), client.TaskFilter{}); err != nil || len(page.Tasks) != 1 || page.Tasks[0].State != "completed" {
			t.Errorf("%v: %+v", err, page)
		}
		c.Close()
		stop(t, s)
		store(t, dir, at, b)
		break
	}
	s, err := Open(t.Context(), Config{DataDir: dir, Addr: "127.0.0.1:0", RebuildViews: true})
	if err != nil {
		t.Fatal(err)
	}
	stop(t, s)
}
