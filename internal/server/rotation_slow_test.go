//go:build slow

package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/record/proof"
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

func TestReceiptsVerifyBeforeAndAfterARotationOfTheKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	task := paid(t, s)
	before, old := receiptOf(t, owner(t, s), task+".h1")
	r, err := admin.New(owner(t, s)).RotateKey(t.Context(), "yearly")
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(old) != r.Old || r.New == r.Old {
		t.Fatalf("%+v, the key was %s", r, old)
	}
	if !verifies(t, []byte(r.Receipt), r.Old) || verifies(t, []byte(r.Receipt), r.New) {
		t.Error("the old key did not sign the rotation")
	}
	if _, err := owner(t, s).RegisterAgent(t.Context(), "eve", client.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	for restarts := range 2 {
		after, keys := receiptOf(t, owner(t, s), task+".h1")
		if keys != r.Old+"\n"+r.New+"\n" {
			t.Errorf("after %d restarts the keys are %q", restarts, keys)
		}
		if !verifies(t, before, keys) || !verifies(t, before, r.Old) || !verifies(t, after, keys) {
			t.Errorf("after %d restarts a receipt does not verify", restarts)
		}
		stop(t, s)
		if c, err := checkpointIn(t, dir); err != nil || len(verified(t, dir)) > 0 {
			t.Errorf("%v, %v, %v", c, err, verified(t, dir))
		}
		s = open(t, dir)
		if _, err := owner(t, s).RegisterAgent(t.Context(), "eve", client.AgentSpec{Capabilities: []string{"again"}}); err != nil {
			t.Fatal(err)
		}
	}
	stop(t, s)
	note, err := os.ReadFile(filepath.Join(dir, "proof", "checkpoint"))
	if err != nil {
		t.Fatal(err)
	}
	public, err := proof.ParseKeys(r.New)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := proof.OpenCheckpoint(note, public); err != nil {
		t.Errorf("the new key does not sign after a restart: %v", err)
	}
}
