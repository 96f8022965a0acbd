//go:build slow

package server

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

const retention = `version: 1
rules:
  - name: stay
    then: keep
retention:
  - tag: patient-4711
    kind: task
    at_least_days: 30
    at_most_days: 60
  - kind: memory
    at_least_days: 10
  - kind: conversation
    at_most_days: 20
`

// days moves the clock on by some days, and applies the retention policy then.
func (k *clinic) days(t *testing.T, clock *Clock, n int) {
	t.Helper()
	clock.move(clock.Now().Add(time.Duration(n) * 24 * time.Hour))
	must(t)(nil, k.server.UseCases.Erasures.Retain(t.Context()))
}

// erased wants some of the words of the patient in the files and answers, and others in none.
func (k *clinic) erased(t *testing.T, when string, places ...string) {
	t.Helper()
	told := k.answers(t)
	for _, place := range []string{"intent", "note", "turn", "memory"} {
		gone := false
		for _, p := range places {
			gone = gone || p == place
		}
		in := k.forgotten(t)
		if place == "turn" { // the envelope of the task has it too, in condensed form
			in = told["conversation"]
		}
		if has := strings.Contains(in, k.secret(place)); has == gone {
			t.Errorf("%s: the answers have the %s: %t", when, place, has)
		}
	}
	words := k.words
	k.words = nil
	for _, p := range places {
		k.secret(p)
	}
	for _, found := range k.inFiles(t) {
		t.Errorf("%s: there is still %s", when, found)
	}
	k.words = words
}

func TestThePolicyKeepsContentAtLeastAndAtMost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "policy.yaml"), []byte(retention), 0o600); err != nil {
		t.Fatal(err)
	}
	clock := NewClock(time.Now())
	k := treat(t, openAt(t, dir, clock))
	k.end(t)
	must(t)(k.bob.Forget(t.Context(), k.item))
	k.erased(t, "at first")
	_, err := k.admin.Erase(t.Context(), patient)
	refusedWith(t, err, refusal.Conflict, "the retention policy keeps task/")

	k.days(t, clock, 9)
	k.erased(t, "after 9 days")
	k.days(t, clock, 2)
	k.erased(t, "after 11 days", "memory") // which was forgotten
	must(t)(k.admin.SetHold(t.Context(), admin.SubjectInput{Subject: "conversation/visit-9", Why: "case 12"}))
	k.days(t, clock, 14)
	k.erased(t, "after 25 days, on hold", "memory")
	must(t)(k.admin.LiftHold(t.Context(), admin.SubjectInput{Subject: "conversation/visit-9", Why: "case 12 is closed"}))
	k.days(t, clock, 1)
	k.erased(t, "after 26 days", "memory", "turn")
	must(t)(k.admin.SetHold(t.Context(), admin.SubjectInput{Subject: "tag/patient-4711", Why: "case 13"}))
	k.days(t, clock, 40)
	k.erased(t, "after 66 days, on hold", "memory", "turn")
	must(t)(k.admin.LiftHold(t.Context(), admin.SubjectInput{Subject: "tag/patient-4711", Why: "case 13 is closed"}))
	k.days(t, clock, 1)
	k.erased(t, "after 67 days", "memory", "turn", "intent", "note")

	all, err := k.admin.Erasures(t.Context(), admin.ErasureFilter{})
	if err != nil || len(all.Erasures) != 3 {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, e := range all.Erasures {
		if e.By != "system/retention" || e.Subject != "retention" || !strings.Contains(e.Why, "the policy sha256:") || e.Finished == nil || e.Streams != 1 {
			t.Errorf("%+v", e)
		}
	}
	if all.Erasures[0].Files != 1 {
		t.Errorf("the task's file was not deleted: %+v", all.Erasures[0])
	}
	_, err = k.admin.Artifact(t.Context(), k.file, io.Discard)
	refusedWith(t, err, refusal.NotFound, "was erased on "+all.Erasures[0].At.UTC().Format(time.DateOnly)+" by system/retention")
	stop(t, k.server)
	if found, differ := verified(t, k.dir), views(t, k.dir); len(found)+len(differ) > 0 {
		t.Errorf("the verifier finds %v %v", found, differ)
	}
}

// openAt is openErasable with a clock.
func openAt(t *testing.T, dir string, clock *Clock) *Server {
	t.Helper()
	s, err := Open(t.Context(), Config{DataDir: dir, Addr: "127.0.0.1:0", Erasable: true, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(t.Context()) })
	return s
}

func TestATaskThatHasNotEndedIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "policy.yaml"), []byte("version: 1\nretention:\n  - at_most_days: 5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	clock := NewClock(time.Now())
	k := treat(t, openAt(t, dir, clock))
	k.days(t, clock, 6)
	got := k.answers(t)
	for what, place := range map[string]string{"task": "intent", "conversation": "turn"} {
		if !strings.Contains(got[what], k.secret(place)) {
			t.Errorf("the %s of an open task was erased: %.300s", place, got[what])
		}
	}
	at, err := k.admin.Task(t.Context(), k.task)
	must(t)(nil, err)
	must(t)(k.admin.Cancel(t.Context(), at.ID, client.CancelInput{Detail: "over"}))
	k.days(t, clock, 4)
	if got := k.answers(t)["task"]; !strings.Contains(got, k.secret("intent")) {
		t.Errorf("4 days after its end it was erased: %.300s", got)
	}
	k.days(t, clock, 2)
	k.check(t)
	item, err := k.admin.Memory(t.Context(), k.item, client.MemoryReference{})
	if err != nil || item.ForgottenBy != "system/retention" {
		t.Errorf("the item does not say what erased it: %+v, %v", item, err)
	}
}
