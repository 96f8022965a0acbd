//go:build outside

package scenario

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/freeaddr"
)

// One node after the other is killed under load, has a bit flipped somewhere in what its NATS server keeps, and is started again: it makes good what is damaged, or it refuses to start and is made
// again from the others. What was acknowledged is true at the end, and is in each replica.
func TestNothingAcknowledgedIsLostWhenABitIsFlippedAtANodeOfJetStream(t *testing.T) {
	t.Parallel() // it mostly waits
	c := newClusterCampaign(t)
	dirs := []string{c.TempDir(), c.TempDir(), c.TempDir()}
	rigs := newNodes(c, dirs, freeaddr.New(t, 3), nil)
	crews, stop, waits := c.nodesAtWork(rigs)
	refused := 0
	for range *faultsFlag {
		victim := c.rng.IntN(len(rigs))
		one := rigs[victim]
		one.kill()
		store := filepath.Join(one.dir, "jetstream", "jetstream")
		c.flip(store)
		c.happened("a bit is flipped at a node that does not run", c.atWork(allBut(rigs, victim), allBut(crews, victim), 6))
		one.gathered(len(crews[victim].actors))
		ready := one.launch()
		select {
		case said := <-ready:
			one.release(said.URL)
		case <-one.ended:
			if said := one.stderr.String(); !strings.Contains(said, "is not as it was written") || !strings.Contains(said, "delete "+store) {
				c.Fatalf("the node does not start, and does not say what to do: %s", said)
			}
			refused++
			one.down()
			if err := os.RemoveAll(store); err != nil {
				c.Fatal(err)
			}
			one.release(one.start())
		case <-time.After(patience):
			c.Fatalf("the node does not start:\n%s", one.stuck())
		}
		c.happened("a bit was flipped at a node, when it runs again", c.atWork(rigs, crews, 6))
		c.complete(rigs)
	}
	stop()
	c.concluded(rigs, crews, waits, c.recordOfNode(rigs[0]), nodeNames...)
	c.Logf("%d of %d bits were called damage", refused, *faultsFlag)
}

// flip changes a bit in a file below a directory.
func (c *campaign) flip(dir string) {
	c.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Size() > 0 {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		c.Fatalf("%s has no files: %v", dir, err)
	}
	file := files[c.rng.IntN(len(files))]
	b, err := os.ReadFile(file) //nolint:gosec // ours
	if err != nil {
		c.Fatal(err)
	}
	at := c.rng.IntN(8 * len(b))
	b[at/8] ^= 1 << (at % 8)
	if err := os.WriteFile(file, b, 0o600); err != nil {
		c.Fatal(err)
	}
	c.Logf("%s: bit %d of %d in %s", time.Now().Format(time.TimeOnly), at, 8*len(b), strings.TrimPrefix(file, dir))
}
