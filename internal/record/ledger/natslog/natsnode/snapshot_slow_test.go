//go:build slow || outside

package natsnode

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/minio/highwayhash"
)

// summed is a snapshot as nats-server stores it for a group.
func summed(t *testing.T, group, content string) []byte {
	t.Helper()
	key := sha256.Sum256([]byte(group))
	sum, err := highwayhash.New64(key[:])
	if err != nil {
		t.Fatal(err)
	}
	_, _ = sum.Write([]byte(content))
	return sum.Sum([]byte(content))
}

func TestANodeWithADamagedSnapshotDoesNotStart(t *testing.T) {
	good := summed(t, "S-R3F-one", "term, entry, peers and state")
	if err := checkReplicas(withSnapshots(t, map[string][]byte{"snap.2.17": good, "snap.2.9": {1}, "snap.1.30": {1}, "snap.3.1.tmp": {1}, "other": {1}}), nil); err != nil {
		t.Errorf("it is whole, and older ones are not read: %v", err)
	}
	for bit := 0; bit < 8*len(good); bit += 7 {
		bad := append([]byte{}, good...)
		bad[bit/8] ^= 1 << (bit % 8)
		dir := withSnapshots(t, map[string][]byte{"snap.2.17": bad, "snap.2.9": good})
		if err := checkReplicas(dir, nil); err == nil || !strings.Contains(err.Error(), "snap.2.17 is not as it was written. ") || !strings.Contains(err.Error(), "delete "+filepath.Join(dir, storeDir)+", and start") {
			t.Fatalf("bit %d: %v", bit, err)
		}
	}
	for _, n := range []int{0, 3, len(good) - 1} {
		if err := checkReplicas(withSnapshots(t, map[string][]byte{"snap.10.1": good[:n]}), nil); err == nil {
			t.Errorf("%d bytes of it are taken for whole", n)
		}
	}
}

// withSnapshots returns the directory of a node with snapshots of one group, and another group that has none.
func withSnapshots(t *testing.T, files map[string][]byte) (dir string) {
	t.Helper()
	dir = t.TempDir()
	groups := filepath.Join(dir, storeDir, "$SYS", "_js_")
	if err := os.MkdirAll(filepath.Join(groups, "S-R3F-a"), 0o700); err != nil {
		t.Fatal(err)
	}
	snapshots := filepath.Join(groups, "S-R3F-one", "snapshots")
	if err := os.MkdirAll(snapshots, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(snapshots, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
