//go:build slow

package server

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
)

// TestAnInterruptedRotationGoesOnOrHasNotBegun puts a directory in the place of each file that a rotation writes, as a process that is killed there would leave
// the others: the call fails, and after a restart the key is the old one, or the new one that the record names.
func TestAnInterruptedRotationGoesOnOrHasNotBegun(t *testing.T) {
	t.Parallel()
	for file, recorded := range map[string]bool{"key.next.new": false, "keys.new": true, "key.new": true} {
		t.Run(file, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir)
			task := paid(t, s)
			before, old := receiptOf(t, owner(t, s), task+".h1")
			obstacle := filepath.Join(dir, "proof", file)
			if err := os.Mkdir(obstacle, 0o700); err != nil {
				t.Fatal(err)
			}
			ctx := client.WithKey(t.Context(), client.NewKey())
			if r, err := admin.New(owner(t, s)).RotateKey(ctx, ""); err == nil {
				t.Fatalf("%+v", r)
			}
			stop(t, s)
			if err := os.Remove(obstacle); err != nil {
				t.Fatal(err)
			}
			s = open(t, dir)
			r, err := admin.New(owner(t, s)).RotateKey(ctx, "") // the call whose answer was lost, again
			if err != nil || r.Repeat != recorded {
				t.Fatalf("%+v, %v", r, err)
			}
			after, keys := receiptOf(t, owner(t, s), task+".h1")
			if keys != old+r.New+"\n" || !verifies(t, before, keys) || !verifies(t, after, keys) {
				t.Errorf("the keys are %q", keys)
			}
			stop(t, s)
			if found := verified(t, dir); len(found) > 0 {
				t.Error(found)
			}
		})
	}
}
