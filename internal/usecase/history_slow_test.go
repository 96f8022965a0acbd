//go:build slow

package usecase_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqltest"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/history"
	"github.com/trapezehq/trapeze/internal/usecase/positions"
	"github.com/trapezehq/trapeze/internal/usecase/presence"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

type historyHarness struct {
	*history.History
	t     *testing.T
	log   ledger.Ledger
	store *taskstore.Store
	now   *tasks.Tasks // the same task as it is now
}

// openHistory is the history of one task, which ann works on.
func openHistory(t *testing.T) *historyHarness {
	t.Helper()
	log, views := sqltest.Open(t)
	reads, err := access.New(log, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	store, err := taskstore.New(log, reads, presence.New(time.Now), time.Now, 16, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	h := &historyHarness{History: must(history.New(log, store, reads, nothing{}, nothing{}, nil, nothing{}, nil, nil, nil, time.Now)), t: t, log: log, store: store}
	h.now = tasks.New(tasks.Parts{Ledger: log, Views: views.Store(), Positions: positions.New(log, views.Store(), nil), Store: store, Access: reads, Now: time.Now})
	h.create(agentOf("ann"), taskID)
	return h
}

// nothing has forgotten nothing, and has no envelopes and no agents.
type nothing struct{}

func (nothing) Find(context.Context, string, string, bool) (agent.State, error) {
	return agent.State{}, nil
}

func (nothing) Reader() func(context.Context, ledger.Entry) (ledger.Entry, error) {
	return func(_ context.Context, e ledger.Entry) (ledger.Entry, error) { return e, nil }
}

func (nothing) Told(caller.Caller) func(context.Context, ledger.Entry, ledger.Position) (bool, error) {
	return func(context.Context, ledger.Entry, ledger.Position) (bool, error) { return false, nil }
}

func (nothing) RedactTitles(context.Context, string, ...[]envelope.Envelope) error { return nil }

func (nothing) Chain(context.Context, string, task.Task, func(ledger.Entry) bool) (said, given []envelope.Envelope, err error) {
	return nil, nil, nil
}

// create makes a task that its creator works on.
func (h *historyHarness) create(c caller.Caller, id string) {
	h.t.Helper()
	_, err := h.store.Decide(h.t.Context(), c, "create", id, nil, func(s task.Task, now time.Time) ([]event.Event, error) {
		return handoff.Decide(s, handoff.Sequence{handoff.Create{By: c.Principal, Task: id, Intent: "pay it back"}, handoff.Start{By: c.Principal}}, now)
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *historyHarness) entries(kind, id string) int {
	h.t.Helper()
	list, err := h.log.Stream(h.t.Context(), ledger.StreamOf(identity.DefaultWorkspace, kind, id), 0, 100)
	if err != nil {
		h.t.Fatal(err)
	}
	return len(list)
}

// looks are the ways to look at a task.
var looks = []struct {
	name string
	look func(h *historyHarness, c caller.Caller, w io.Writer) error
}{
	{"the task", func(h *historyHarness, c caller.Caller, _ io.Writer) error {
		_, err := h.now.Show(h.t.Context(), c, taskID)
		return err
	}},
	{"its trail", func(h *historyHarness, c caller.Caller, _ io.Writer) error {
		_, err := h.Trail(h.t.Context(), c, taskID)
		return err
	}},
	{"its drift", func(h *historyHarness, c caller.Caller, _ io.Writer) error {
		_, err := h.Drift(h.t.Context(), c, taskID)
		return err
	}},
	{"an export of lines", exports(view.FormatLines)},
	{"an export as CSV", exports(view.FormatCSV)},
	{"an export as JSON", exports(view.FormatJSON)},
}

func exports(f view.Format) func(*historyHarness, caller.Caller, io.Writer) error {
	return func(h *historyHarness, c caller.Caller, w io.Writer) error {
		return h.Export(h.t.Context(), c, history.ExportInput{Task: taskID, Format: f}, w)
	}
}

// onFirst calls a function when the first byte is written.
type onFirst struct {
	bytes.Buffer
	first func()
}

func (w *onFirst) Write(b []byte) (int, error) {
	if w.Len() == 0 {
		w.first()
	}
	return w.Buffer.Write(b)
}

func TestAReadIsRecordedBeforeTheAnswerAndChangesNoTask(t *testing.T) {
	h := openHistory(t)
	for n, l := range looks {
		recorded := func() {
			if got := h.entries(access.Kind, "agent:ann"); got != n+1 {
				t.Errorf("%s: %d reads are recorded, want %d", l.name, got, n+1)
			}
		}
		w := onFirst{first: recorded}
		if err := l.look(h, agentOf("ann"), &w); err != nil {
			t.Errorf("%s: %v", l.name, err)
		}
		recorded()
		if strings.HasPrefix(l.name, "an export") && !strings.Contains(w.String(), "task-created") {
			t.Errorf("%s: %q", l.name, w.String())
		}
	}
	if n := h.entries(taskstore.Kind, taskID); n != 1 {
		t.Errorf("the task has %d entries", n)
	}
}

func TestAReaderWithoutPermissionGetsNothingAndThatIsRecorded(t *testing.T) {
	for _, l := range looks {
		t.Run(l.name, func(t *testing.T) {
			h := openHistory(t)
			w := onFirst{first: func() { t.Error("something was answered") }}
			if err := l.look(h, agentOf("eve"), &w); refusal.CodeOf(err) != refusal.NotFound {
				t.Error(err)
			}
			if n := h.entries(access.Kind, "agent:eve"); n != 1 {
				t.Errorf("the attempt is %d entries", n)
			}
		})
	}
	h := openHistory(t)
	var w bytes.Buffer
	err := h.Export(t.Context(), agentOf("ann"), history.ExportInput{Format: view.FormatLines}, &w)
	if refusal.CodeOf(err) != refusal.NotPermitted || w.Len() > 0 {
		t.Errorf("an agent exported everything: %v, %d bytes", err, w.Len())
	}
}

func TestWhoFollowsIsToldOfWhatConcernsThemAndOfNoReads(t *testing.T) {
	const hers = "task_00000000000000000000000002"
	h := openHistory(t)
	if _, err := h.now.Show(t.Context(), agentOf("ann"), taskID); err != nil { // which is recorded too
		t.Fatal(err)
	}
	h.create(agentOf("eve"), hers)
	enough := errors.New("enough")
	told := func(c caller.Caller, until string) (ids []string) {
		err := h.Follow(t.Context(), c, 0, func(n history.Event) error {
			if ids = append(ids, n.Kind+" "+n.ID); n.ID == until {
				return enough
			}
			return nil
		})
		if !errors.Is(err, enough) {
			t.Errorf("%s: %v", c, err)
		}
		return ids
	}
	if got := told(agentOf("eve"), hers); !slices.Equal(got, []string{"task " + hers}) {
		t.Errorf("eve was told of %q", got)
	}
	if got := told(who(identity.Operator, "olga"), hers); !slices.Equal(got, []string{"task " + taskID, "task " + hers}) {
		t.Errorf("an operator was told of %q", got)
	}
}

// asked notes after which entry of a task it is asked for a memory item.
type asked struct {
	nothing
	since *[]ledger.Position
}

func (a asked) Told(caller.Caller) func(context.Context, ledger.Entry, ledger.Position) (bool, error) {
	return func(_ context.Context, _ ledger.Entry, since ledger.Position) (bool, error) {
		*a.since = append(*a.since, since)
		return true, nil
	}
}

// What the tasks of a reader grant is looked up again after an entry of one that the reader sees, not after those of others.
func TestAStreamKnowsTheNewestEntryOfATaskThatItsReaderSees(t *testing.T) {
	h := openHistory(t)
	var since []ledger.Position
	reads := must(access.New(h.log, time.Now))
	of := must(history.New(h.log, h.store, reads, nothing{}, asked{since: &since}, nil, nothing{}, nil, nil, nil, time.Now))
	enough := errors.New("enough")
	item := func(id string) {
		_, err := h.log.Append(t.Context(), ledger.Entry{
			Stream: ledger.StreamOf(identity.DefaultWorkspace, "memory", id), Version: 1, Time: time.Now().UTC().Truncate(time.Millisecond), Actor: ledger.Actor{Principal: "agent/ann"},
			Events: []ledger.Event{{Name: "memory-stored", Version: 1, Data: []byte("{}")}},
		}, 0)
		if err != nil {
			t.Fatal(err)
		}
	}
	start := must(h.log.Last(t.Context()))
	item("mem_1")
	h.create(agentOf("eve"), "task_00000000000000000000000002")
	hers := must(h.log.Last(t.Context()))
	h.create(agentOf("ann"), "task_00000000000000000000000003")
	item("mem_2")
	err := of.Follow(t.Context(), agentOf("eve"), start, func(n history.Event) error {
		if n.ID == "mem_2" {
			return enough
		}
		return nil
	})
	if want := []ledger.Position{start, hers}; !errors.Is(err, enough) || !slices.Equal(since, want) {
		t.Errorf("%v: asked after %d, want %d", err, since, want)
	}
}

// must is a value that is there without an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// lacking is a ledger whose first read finds nothing, as that of a replica that lags.
type lacking struct {
	ledger.Ledger
	reads int
}

func (l *lacking) Read(ctx context.Context, after ledger.Position, limit int) ([]ledger.Entry, error) {
	if l.reads++; l.reads == 1 {
		return nil, nil
	}
	return l.Ledger.Read(ctx, after, limit)
}

// unsigned is a tree without a checkpoint.
type unsigned struct{ history.Tree }

func (unsigned) Await(context.Context, ledger.Position) (proof.Checkpoint, []byte, error) {
	return proof.Checkpoint{}, nil, ledger.ErrUnavailable
}

// TestAnEntryThatAReplicaLacksIsNotDenied: it is acknowledged, so that it is there.
func TestAnEntryThatAReplicaLacksIsNotDenied(t *testing.T) {
	h := openHistory(t)
	last := must(h.log.Last(t.Context()))
	reads := must(access.New(h.log, time.Now))
	lacks := &lacking{Ledger: h.log}
	all := must(history.New(lacks, h.store, reads, nothing{}, nothing{}, nil, nothing{}, unsigned{}, nil, nil, time.Now))
	if _, err := all.GetReceiptAt(t.Context(), agentOf("ann"), last); refusal.CodeOf(err) != refusal.Unavailable || lacks.reads != 2 {
		t.Errorf("after %d reads: %v; want the refusal of a tree without a checkpoint", lacks.reads, err)
	}
}

// TestAnExportHasWhatAReplicaLacks: an export of everything ends where the record does, and so does what it counts.
func TestAnExportHasWhatAReplicaLacks(t *testing.T) {
	h := openHistory(t)
	of := func() *history.History {
		return must(history.New(&lacking{Ledger: h.log}, h.store, must(access.New(h.log, time.Now)), nothing{}, nothing{}, nil, nothing{}, unsigned{}, nil, nil, time.Now))
	}
	auditor := who(identity.Operator, "eve")
	var w bytes.Buffer
	if err := of().Export(t.Context(), auditor, history.ExportInput{Format: view.FormatLines}, &w); err != nil || !strings.Contains(w.String(), taskID) {
		t.Errorf("%v, in %d bytes: %s", err, w.Len(), &w)
	}
	there := must(h.log.Last(t.Context()))
	if err := of().Export(t.Context(), auditor, history.ExportInput{Format: view.FormatProof}, &w); refusal.CodeOf(err) != refusal.Unavailable {
		t.Errorf("%v; want the refusal of a tree without a checkpoint", err)
	}
	told := must(h.log.Read(t.Context(), there, 1))
	var made access.Exported
	if err := json.Unmarshal(told[0].Events[0].Data, &made); err != nil || made.Counted == nil || made.Counted.Through != there || made.Counted.Entries != int64(there) {
		t.Errorf("%v: %s; want %d entries counted", err, told[0].Events[0].Data, there)
	}
}
