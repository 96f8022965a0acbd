//go:build slow

package server

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

func TestAWitnessThatIsNoneIsRefusedAtTheStart(t *testing.T) {
	t.Parallel()
	o := witnessOf(t, started(t), "w.example.com")
	for _, spec := range []string{
		"", o.URL, o.key.String(), o.URL + "=", "ftp://x=" + o.key.String(), "http://a:b@x=" + o.key.String(), o.URL + "?a=b=" + o.key.String(), strings.Replace(o.spec(), "w.ex", "v.ex", 1),
	} {
		s, err := Open(t.Context(), Config{DataDir: t.TempDir(), Addr: "127.0.0.1:0", Witnesses: []string{spec}})
		if err == nil {
			stop(t, s)
			t.Errorf("%q is a witness", spec)
		}
	}
}

func TestAnAnswerThatIsNotByTheWitnessCountsForNothing(t *testing.T) {
	t.Parallel()
	dir := started(t)
	o := witnessOf(t, dir, "w.example.com")
	other := witnessOf(t, dir, "w.example.com") // the same name, and another key
	o.key = other.key
	s := witnessed(t, dir, o)
	defer stop(t, s)
	receipt, _ := receiptOf(t, owner(t, s), paid(t, s)+".h1")
	if list, err := proof.ParseInclusions(receipt); err != nil || bytes.Contains(list[0].Checkpoint, []byte("— w.example.com")) {
		t.Errorf("%v: %s", err, list[0].Checkpoint)
	}
	if _, err := owner(t, s).RegisterAgent(t.Context(), "carl", client.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
}

// TestARecordThatGoesBackIsRefusedByItsWitness: the data directory is exchanged for an older copy of it, in which everything verifies, and the record goes on
// there.
func TestARecordThatGoesBackIsRefusedByItsWitness(t *testing.T) {
	t.Parallel()
	dir := started(t)
	o := witnessOf(t, dir, "w.example.com")
	old := t.TempDir()
	if err := os.CopyFS(old, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	s := witnessed(t, dir, o)
	cosigned(t, s, paid(t, s), o)
	stop(t, s)
	for range 2 { // shorter than what was cosigned, and then longer
		s = witnessed(t, old, o)
		if found := verified(t, old); len(found) > 0 {
			t.Error(found)
		}
		await(t, func() bool { return s.cosigner.Err() != nil })
		for range 3 {
			paid(t, s)
		}
		stop(t, s)
	}
	s = witnessed(t, dir, o) // the right one is cosigned as before
	cosigned(t, s, paid(t, s), o)
	if err := s.cosigner.Err(); err != nil {
		t.Error(err)
	}
	stop(t, s)
}
