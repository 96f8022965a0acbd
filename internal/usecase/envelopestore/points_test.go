package envelopestore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopestore"
	"github.com/trapezehq/trapeze/internal/usecase/presence"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// A call that decides about a task as it was is not told of what another call has sealed since: it has lost to that one, and nothing is wrong with its ids.
func TestPointsOfLaterEnvelopesAreNotThoseOfAnEarlierOne(t *testing.T) {
	const id = "task_00000000000000000000000001"
	l := ledgertest.NewDouble(ledgertest.Faults{})
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	log, err := access.New(l, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := taskstore.New(l, log, presence.New(time.Now), time.Now, 16, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	ann := caller.Caller{Principal: identity.Principal{Workspace: identity.DefaultWorkspace, Role: identity.Agent, Name: "ann"}}
	decide := func(command string, to func(task.Task, time.Time) ([]event.Event, error)) {
		t.Helper()
		if _, err := tasks.Decide(t.Context(), ann, command, id, nil, to); err != nil {
			t.Fatal(err)
		}
	}
	decide("create", func(s task.Task, now time.Time) ([]event.Event, error) {
		return handoff.Decide(s, handoff.Sequence{
			handoff.Create{By: ann.Principal, Task: id, Intent: "refund order 7"}, handoff.Start{By: ann.Principal},
		}, now)
	})
	digest := func(n int) string { return fmt.Sprintf("sha256:%064d", n) }
	for n := range 4 {
		decide("seal", func(task.Task, time.Time) ([]event.Event, error) {
			parent := ""
			if n > 0 {
				parent = digest(n - 1)
			}
			doc := fmt.Sprintf(`{"parent":%q,"decisions":[{"id":"d%d","by":"ann","text":"pay"}]}`, parent, n)
			return []event.Event{event.Sealed{Digest: digest(n), Parent: parent, Bytes: []byte(doc)}}, nil
		})
	}
	had, err := envelopestore.New(l, tasks, 1<<20).Points(t.Context(), identity.DefaultWorkspace, id, digest(2))
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range []bool{true, true, true, false} {
		if d := fmt.Sprintf("d%d", n); had.Has(envelope.PartDecision, d) != want {
			t.Errorf("the third envelope and those before it had %s: %t, want %t", d, !want, want)
		}
	}
}
