package taskstore_test

import (
	"testing"
	"time"
	"unsafe"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/presence"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

const taskID = "task_00000000000000000000000001"

func agent(name string) caller.Caller {
	return caller.Caller{Principal: identity.Principal{Workspace: identity.DefaultWorkspace, Role: identity.Agent, Name: name}}
}

// opened is a store with one task, which ann works on.
func opened(t *testing.T) (*taskstore.Store, *ledgertest.Double) {
	t.Helper()
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
	d, err := taskstore.New(l, log, presence.New(time.Now), time.Now, 16, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Decide(t.Context(), agent("ann"), "create", taskID, nil, func(s task.Task, now time.Time) ([]event.Event, error) {
		return handoff.Decide(s, handoff.Sequence{
			handoff.Create{By: agent("ann").Principal, Task: taskID, Intent: "refund order 7"}, handoff.Start{By: agent("ann").Principal},
		}, now)
	})
	if err != nil {
		t.Fatal(err)
	}
	return d, l
}

func entries(t *testing.T, l ledger.Ledger, kind, id string) int {
	t.Helper()
	list, err := l.Stream(t.Context(), ledger.StreamOf(identity.DefaultWorkspace, kind, id), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func progress(c caller.Caller) handoff.Progress {
	return handoff.Progress{By: c.Principal, Epoch: 1, Note: "half is done"}
}

func TestATaskThatTheCallerMayNotSeeIsNotFoundAndTheRefusalIsRecorded(t *testing.T) {
	d, l := opened(t)
	bob := agent("bob")
	elsewhere := bob
	elsewhere.Workspace = "other"
	for _, c := range []caller.Caller{bob, elsewhere} {
		for _, id := range []string{taskID, "task_00000000000000000000000002"} {
			_, err := d.Change(t.Context(), c, "progress", id, nil, progress(c))
			_, read := d.For(t.Context(), c, id)
			if refusal.CodeOf(err) != refusal.NotFound || refusal.CodeOf(read) != refusal.NotFound {
				t.Errorf("%s of %s: %v, %v", c, id, err, read)
			}
			if may, err := d.Mentions(t.Context(), c, id, "refund"); may || err != nil {
				t.Errorf("%s may read %s: %v", c, id, err)
			}
		}
	}
	if n := entries(t, l, access.Kind, "agent:bob"); n != 2 {
		t.Errorf("%d refusals are recorded", n)
	}
	if n := entries(t, l, taskstore.Kind, taskID); n != 1 {
		t.Errorf("%d entries of the task", n)
	}
}

func TestAReceiptIsOfTheEntryAndTheFirstOneForARepeat(t *testing.T) {
	d, l := opened(t)
	ann := agent("ann").WithKey("k1")
	first, err := d.Change(t.Context(), ann, "progress", taskID, "half", progress(ann))
	if err != nil || first.Repeat || entries(t, l, taskstore.Kind, taskID) != 2 || first.Owner != "ann" || len(first.Events) != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := d.Change(t.Context(), ann, "progress", taskID, "half", progress(ann))
	if err != nil || !again.Repeat || again.Position != first.Position || entries(t, l, taskstore.Kind, taskID) != 2 {
		t.Errorf("%+v, %v", again, err)
	}
	if _, err := d.Change(t.Context(), ann, "progress", taskID, "whole", progress(ann)); refusal.CodeOf(err) != refusal.Conflict {
		t.Errorf("another request under the same key: %v", err)
	}
}

func TestAConditionHoldsWhenTheEntryIsMade(t *testing.T) {
	d, l := opened(t)
	ann, tries := agent("ann"), 0
	once := d.Provided(func(s task.Task) error {
		if tries++; tries == 1 { // right after that, somebody else is faster
			if _, err := d.Change(t.Context(), ann, "progress", taskID, nil, progress(ann)); err != nil {
				t.Error(err)
			}
			return nil
		}
		if s.Marks > 0 {
			return refusal.New(refusal.Conflict, "look again", "it has moved")
		}
		return nil
	})
	_, err := once.Change(t.Context(), ann, "progress", taskID, nil, progress(ann))
	if refusal.CodeOf(err) != refusal.Conflict || entries(t, l, taskstore.Kind, taskID) != 2 {
		t.Errorf("%v after %d tries", err, tries)
	}
	if _, err := d.Change(t.Context(), ann, "progress", taskID, nil, progress(ann)); err != nil {
		t.Errorf("the others have no condition: %v", err)
	}
}

func TestOfAnAgentsTasksEachHasItsOwnOutcome(t *testing.T) {
	d, _ := opened(t)
	out, err := d.Decide(t.Context(), agent("ann"), "park", taskID, nil, func(s task.Task, now time.Time) ([]event.Event, error) {
		return handoff.Decide(s, handoff.Park{By: caller.System(identity.DefaultWorkspace, "courier").Principal, Why: "nobody is there"}, now)
	})
	if err != nil {
		t.Fatal(err)
	}
	var r taskstore.Relief
	nobody := refusal.New(refusal.Unavailable, "later", "nobody can take it").With("passed_over", []event.Passed{})
	for _, c := range []struct {
		err  error
		kept refusal.Code
		ends bool
	}{
		{nil, refusal.Limit, false}, // it went to the dead letters
		{nobody, refusal.Unavailable, false},
		{refusal.New(refusal.NotPermitted, "ask", "not yours to say"), refusal.NotPermitted, false},
		{refusal.New(refusal.Unavailable, "look at the log", "the record cannot be used"), "", true},
		{refusal.New(refusal.Unknown, "repeat", "it may have happened"), "", true},
	} {
		before := len(r.Kept)
		err := r.Take(taskID, out, c.err)
		if (err != nil) != c.ends || !c.ends && (len(r.Kept) != before+1 || r.Kept[before].Code != c.kept) {
			t.Errorf("%v: %+v, %v", c.err, r.Kept, err)
		}
	}
	if len(r.Moved) != 0 {
		t.Errorf("%+v", r.Moved)
	}
}

// TestFoldsFitTheBlocksOfTheAllocator: the next larger blocks are of 1,792 and 896 bytes, and each event of a task takes one of them.
func TestFoldsFitTheBlocksOfTheAllocator(t *testing.T) {
	const header = 8 // before what has pointers, in a block of more than 512 bytes
	if n := unsafe.Sizeof(stream.Folded[task.Task]{}) + header; n > 1536 {
		t.Errorf("a fold of a task takes %d bytes", n)
	}
	if n := unsafe.Sizeof(task.Handoff{}) + header; n > 768 {
		t.Errorf("a handoff takes %d bytes", n)
	}
}
