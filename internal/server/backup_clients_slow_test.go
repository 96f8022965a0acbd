//go:build slow && !race

package server

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/server/recordfile"
)

// acknowledged is the changes that a server acknowledged.
type acknowledged struct {
	sync.Mutex
	stream map[uint64]ledger.Stream // by position
	last   uint64
}

// TestABackupUnderTheLoadOfAThousandClientsHasEveryAcknowledgedChange makes a backup while 1,000 clients create tasks, each with one call at a time, and restores it: it has all that was
// acknowledged before it began, and of what was acknowledged later all up to its position.
func TestABackupUnderTheLoadOfAThousandClientsHasEveryAcknowledgedChange(t *testing.T) {
	const clients = 1000
	dir := t.TempDir()
	s := open(t, dir)
	c, err := client.New(s.URL(), token(t, s), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	said := acknowledged{stream: map[uint64]ledger.Stream{}}
	var running, begun, after sync.WaitGroup
	var ended atomic.Bool
	begun.Add(clients)
	after.Add(clients)
	for n := range clients {
		running.Go(func() {
			wait := []*sync.WaitGroup{&begun, &after}
			for i := 0; i < 2 || !ended.Load(); i++ {
				r, err := c.CreateTask(t.Context(), client.CreateInput{Intent: fmt.Sprintf("task %d of client %d", i, n)})
				if err != nil {
					t.Error(err)
				} else {
					said.Lock()
					said.stream[r.Position] = ledger.StreamOf("default", ledger.TaskKind, r.Task)
					said.last = max(said.last, r.Position)
					said.Unlock()
				}
				if i < len(wait) {
					wait[i].Done()
				}
				if err != nil && i >= len(wait) {
					return
				}
			}
		})
	}
	begun.Wait()
	said.Lock()
	before := said.last
	said.Unlock()
	var b bytes.Buffer
	made, err := Backup(t.Context(), dir, &b, BackupOptions{})
	after.Wait() // all clients were acknowledged another change
	ended.Store(true)
	running.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if made.Position < before {
		t.Errorf("position %d was acknowledged before the backup began, which ends at %d", before, made.Position)
	}
	keys := s.tree.Keys()
	stop(t, s)
	to := filepath.Join(t.TempDir(), "restored")
	if _, err := Restore(t.Context(), to, keys, Place{}, []io.Reader{&b}); err != nil {
		t.Fatal(err)
	}
	checked, later := hasAllOf(t, to, made.Position, said.stream)
	t.Logf("%d changes were acknowledged, of which %d are up to position %d, and %d of those came after the backup began", len(said.stream), checked, made.Position, int(made.Position)-int(before)) //nolint:gosec // small numbers
	if checked < clients || later == 0 {
		t.Errorf("%d changes are up to position %d, and %d later: this shows little", checked, made.Position, later)
	}
}

// hasAllOf compares a record with the changes that were acknowledged up to a position, and returns how many those are, and how many came later.
func hasAllOf(t *testing.T, dir string, position uint64, said map[uint64]ledger.Stream) (checked, later int) {
	t.Helper()
	record, err := recordfile.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer record.Close()
	has := map[uint64]ledger.Stream{}
	for at := ledger.Position(0); ; {
		entries, err := record.Read(t.Context(), at, 500)
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) == 0 {
			break
		}
		for i := range entries {
			at = entries[i].Position
			has[uint64(at)] = entries[i].Stream
		}
	}
	if uint64(len(has)) != position {
		t.Errorf("the restored record has %d entries, want %d", len(has), position)
	}
	for at, stream := range said {
		if at > position {
			later++
			continue
		}
		if checked++; has[at] != stream {
			t.Errorf("position %d was acknowledged for %s, and is restored as %s", at, stream, has[at])
		}
	}
	return checked, later
}
