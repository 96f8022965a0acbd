//go:build slow

package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/server/putaway"
)

// putAwayWith has a task treated and ended under a retention policy, and puts it away.
func putAwayWith(t *testing.T, clock *Clock, policy string) (k *clinic, made Segment, err error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "policy.yaml"), []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	k = treat(t, openAt(t, dir, clock))
	k.end(t)
	stop(t, k.server)
	made, err = PutAway(t.Context(), dir, beforeLong())
	return k, made, err
}

func TestWhatTheRetentionPolicyKeepsOrIsToEraseIsNotPutAway(t *testing.T) {
	t.Parallel()
	for policy, why := range map[string]string{
		"version: 1\nretention:\n  - kind: task\n    at_least_days: 30\n": "the retention policy keeps task ",
		"version: 1\nretention:\n  - kind: task\n    at_most_days: 30\n":  "the retention policy is to erase task ",
	} {
		_, _, err := putAwayWith(t, NewClock(time.Now()), policy)
		nothing(t, err, why)
	}
}

func TestTheRetentionPolicyWaitsForSegmentsThatAreNotAttached(t *testing.T) {
	t.Parallel()
	clock := NewClock(time.Now())
	k, made, err := putAwayWith(t, clock, "version: 1\nretention:\n  - kind: conversation\n    at_most_days: 20\n")
	if err != nil {
		t.Fatal(err)
	}
	clock.move(clock.Now().Add(21 * 24 * time.Hour))
	elsewhere := detach(t, k.dir)
	s := openAt(t, k.dir, clock)
	if err := s.UseCases.Erasures.RetainDaily(t.Context()); refusal.CodeOf(err) != refusal.Conflict || !strings.Contains(err.Error(), "is put away in "+filepath.Base(made.File)) {
		t.Errorf("without the segment: %v", err)
	}
	if n := erasuresOf(t, s); n != 0 {
		t.Errorf("%d erasures, of a record of which a part cannot be read", n)
	}
	if err := os.Rename(elsewhere, filepath.Join(k.dir, putaway.Dir)); err != nil {
		t.Fatal(err)
	}
	if err := s.UseCases.Erasures.RetainDaily(t.Context()); err != nil { // it is tried again later
		t.Fatal(err)
	}
	if n := erasuresOf(t, s); n != 0 {
		t.Errorf("it is tried again at once: %d erasures", n)
	}
	clock.move(clock.Now().Add(11 * time.Minute))
	if err := s.UseCases.Erasures.RetainDaily(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := erasuresOf(t, s); n != 1 {
		t.Errorf("%d erasures with the segment attached", n)
	}
	stop(t, s)
	clean(t, "in the end", k.dir)
}

// erasuresOf is how many erasures there are.
func erasuresOf(t *testing.T, s *Server) int {
	t.Helper()
	all, err := admin.New(clientOf(t, s)).Erasures(t.Context(), admin.ErasureFilter{})
	if err != nil {
		t.Fatal(err)
	}
	return len(all.Erasures)
}

func TestWhatWasPutAwayIsErasedWithItsKeys(t *testing.T) {
	t.Parallel()
	k, made, err := putAwayWith(t, NewClock(time.Now()), "version: 1\nrules: []\n")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := detach(t, k.dir)
	s := openErasable(t, k.dir)
	_, err = admin.New(clientOf(t, s)).Erase(t.Context(), patient)
	refusedWith(t, err, refusal.Conflict, "is put away in "+filepath.Base(made.File))
	if err := os.Rename(elsewhere, filepath.Join(k.dir, putaway.Dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.New(clientOf(t, s)).Erase(t.Context(), patient); err != nil {
		t.Fatal(err)
	}
	got, err := clientOf(t, s).Task(t.Context(), k.task)
	if err != nil || !strings.Contains(got.Intent, "erased on ") {
		t.Errorf("%+v, %v", got, err)
	}
	stop(t, s)
	for _, found := range k.inFiles(t) {
		t.Errorf("there is still %s", found)
	}
	clean(t, "in the end", k.dir)
}
