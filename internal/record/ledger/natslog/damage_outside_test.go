//go:build outside

package natslog_test

import (
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natstest"
	"github.com/trapezehq/trapeze/internal/record/replica"
)

var seed = flag.Uint64("flip-seed", 1, "chooses the bits that are flipped")

// flip changes a bit in a file, one that random chooses if at is negative.
func flip(t *testing.T, random *rand.Rand, file string, at int) {
	t.Helper()
	b, err := os.ReadFile(file) //nolint:gosec // ours
	if err != nil {
		t.Fatal(err)
	}
	if at < 0 {
		at = random.IntN(8 * len(b))
	}
	b[at/8] ^= 1 << (at % 8)
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Logf("bit %d of %d in %s", at, 8*len(b), file)
}

// replicaFiles are the files of a node that are of a stream, and of what its replicas agree on.
func replicaFiles(t *testing.T, dir, stream string) (entries string, others []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		switch {
		case err != nil || info.Size() == 0:
		case strings.Contains(path, "/"+stream+"/") && strings.HasSuffix(path, ".blk"):
			entries = path
		case strings.Contains(path, "/"+stream+"/") || strings.Contains(path, "/_js_/S-") && !strings.Contains(path, "/snapshots/"):
			others = append(others, path)
		}
		return err
	})
	if err != nil || entries == "" || len(others) < 5 {
		t.Fatalf("%s, %v, %v", entries, others, err)
	}
	return entries, others
}

// A bit is flipped in each file that the replica of one node has beside the entries: the node makes them again. Then one is flipped in an entry: the node does
// not start until its replica is deleted, and made again from the others.
func TestABitThatIsFlippedAtOneNodeIsNoLoss(t *testing.T) {
	c := natstest.Start(t, 3)
	o := natslog.Options{Name: newName()}
	l, conn := open(t, c, 0, o), c.Connect(t, 0)
	n := 0
	more := func() {
		t.Helper()
		for range 10 {
			n++
			if _, err := l.Append(t.Context(), ledgertest.NewEntry(ledger.Stream(fmt.Sprint("w/task/", n)), 1, strings.Repeat("x", n)), 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	back := func() {
		t.Helper()
		more()
		c.Run(2)
		more()
		current(t, conn, o.Name)
	}
	more()
	c.Stop(2)
	_, others := replicaFiles(t, c.Dir(2), o.Name)
	random := rand.New(rand.NewPCG(*seed, 0)) //nolint:gosec // not a secret
	t.Logf("-flip-seed %d", *seed)
	for _, file := range others {
		flip(t, random, file, -1)
	}
	back()
	if all := natstest.Agree(t, conn, o.Name, "n0", "n1", "n2"); all != n {
		t.Errorf("each node has %d messages, and not %d", all, n)
	}

	c.Stop(2)
	entries, _ := replicaFiles(t, c.Dir(2), o.Name)
	b, err := os.ReadFile(entries) //nolint:gosec // ours
	if err != nil {
		t.Fatal(err)
	}
	flip(t, random, entries, 8*strings.Index(string(b), "w.task.5"))
	more()
	if err := c.TryRun(2); err == nil || !strings.Contains(err.Error(), entries+" is not as it was written") {
		t.Fatalf("a node whose replica is damaged: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(c.Dir(2), "jetstream")); err != nil {
		t.Fatal(err)
	}
	back()
	if all := natstest.Agree(t, conn, o.Name, "n0", "n1", "n2"); all != n {
		t.Errorf("each node has %d messages, and not %d", all, n)
	}
}

// current waits until all replicas of a stream have all of it.
func current(t *testing.T, conn *nats.Conn, stream string) {
	t.Helper()
	until(t, "that all replicas are current", func() bool {
		groups, err := natslog.Groups(t.Context(), conn, stream)
		if err != nil || len(groups) != 1 || len(groups[0].Peers) != 3 {
			return false
		}
		return !slices.ContainsFunc(groups[0].Peers, func(p replica.Peer) bool { return !p.Current || p.Lag > 0 })
	})
}
