package access_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// desk is a log of accesses over a ledger in memory, with a clock that stands still.
type desk struct {
	*testing.T
	*access.Log
	ledger *ledgertest.Double
	now    time.Time
}

func open(t *testing.T) *desk {
	d := &desk{T: t, ledger: ledgertest.NewDouble(ledgertest.Faults{}), now: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)}
	var err error
	if d.Log, err = access.New(d.ledger, func() time.Time { return d.now }); err != nil {
		t.Fatal(err)
	}
	return d
}

func actor(principal string) ledger.Actor {
	return ledger.Actor{Principal: principal, Token: "tk1", For: []string{"operator/ann"}}
}

var (
	anna = actor("agent/anna")
	no   = refusal.New(refusal.NotOwner, "accept an offer", "anna does not own the task")
)

// entries returns the recorded entries of a principal.
func (d *desk) entries(stream ledger.Stream) []ledger.Entry {
	d.Helper()
	list, err := d.ledger.Stream(d.Context(), stream, 0, 1000)
	if err != nil {
		d.Fatal(err)
	}
	return list
}

// refused returns the recorded refusals of anna, and the recorded number of those that were omitted.
func (d *desk) refused() (recorded, leftOut int) {
	d.Helper()
	for _, e := range d.entries("default/access/agent:anna") {
		var ev access.Refused
		if err := json.Unmarshal(e.Events[0].Data, &ev); err != nil || e.Events[0].Name != ev.EventName() {
			d.Fatalf("%s %s: %v", e.Events[0].Name, e.Events[0].Data, err)
		}
		recorded++
		leftOut += ev.Suppressed
	}
	return recorded, leftOut
}

func TestAReadIsRecordedBeforeItIsAnswered(t *testing.T) {
	d := open(t)
	if err := d.Read(t.Context(), "default", anna, "task_1", "task_1.h1", "sha256:1"); err != nil {
		t.Fatal(err)
	}
	list := d.entries("default/access/agent:anna")
	if len(list) != 1 || list[0].Actor.Principal != "agent/anna" || list[0].Actor.Token != "tk1" || len(list[0].Actor.For) != 1 || !list[0].Time.Equal(d.now) ||
		list[0].Events[0].Name != "content-read" || string(list[0].Events[0].Data) != `{"task":"task_1","what":"task_1.h1","digest":"sha256:1"}` {
		t.Errorf("%+v", list)
	}
}

func TestWhatCannotBeRecordedIsNotAnswered(t *testing.T) {
	d := open(t)
	d.ledger.Break(errors.New("disk full"))
	if err := d.Read(t.Context(), "default", anna, "task_1", "task", ""); refusal.CodeOf(err) != refusal.Unavailable {
		t.Errorf("a read: %v", err)
	}
	if err := d.Append(t.Context(), "default", anna, access.Exported{What: "everything", Format: "csv"}); refusal.CodeOf(err) != refusal.Unavailable {
		t.Errorf("an export: %v", err)
	}
	d.ledger.Break(nil)
	d.ledger.SetFaults(ledgertest.Faults{Lost: 1})
	if err := d.Read(t.Context(), "default", anna, "task_1", "task", ""); refusal.CodeOf(err) != refusal.Unknown {
		t.Errorf("a read of unknown outcome: %v", err)
	}
}

func TestRefusalsAreLimitedAndCountedAndLaterTold(t *testing.T) {
	d := open(t)
	for range 100 {
		if err := d.Refused(t.Context(), "default", anna, "complete", "task_1", no); err != no { //nolint:errorlint // the very same
			t.Fatal(err)
		}
	}
	first, left := d.refused()
	if first < 1 || first > 50 || left != 0 {
		t.Fatalf("%d of 100 at once are recorded, with a count of %d more", first, left)
	}
	d.now = d.now.Add(time.Second)
	_ = d.Refused(t.Context(), "default", anna, "complete", "task_1", no)
	if all, left := d.refused(); all != first+1 || left != 100-first {
		t.Errorf("%d are recorded, with a count of %d more; want 101", all, left)
	}
	d.now = d.now.Add(time.Hour)
	_ = d.Refused(t.Context(), "default", anna, "complete", "task_1", no)
	if all, left := d.refused(); all != first+2 || left != 100-first {
		t.Errorf("%d are recorded, with a count of %d more; want 102", all, left)
	}
}

func TestNoRefusalIsLostToTheCount(t *testing.T) {
	d := open(t)
	d.ledger.Break(errors.New("disk full")) // nothing is recorded for now
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 25 {
				_ = d.Refused(context.Background(), "default", anna, "complete", "task_1", no)
			}
		})
	}
	wg.Wait()
	d.ledger.Break(nil)
	d.now = d.now.Add(time.Hour)
	_ = d.Refused(t.Context(), "default", anna, "complete", "task_1", no)
	if all, left := d.refused(); all != 1 || left != 200 {
		t.Errorf("%d are recorded, with a count of %d more; want 201", all, left)
	}
}

func TestOnePrincipalsRefusalsDoNotHideAnothers(t *testing.T) {
	d := open(t)
	for range 100 {
		_ = d.Refused(t.Context(), "default", anna, "complete", "task_1", no)
	}
	for _, by := range []ledger.Actor{actor("agent/bert"), access.Stranger()} {
		_ = d.Refused(t.Context(), "default", by, "complete", "task_1", no)
	}
	_ = d.Refused(t.Context(), "elsewhere", anna, "complete", "task_1", no)
	for _, stream := range []ledger.Stream{"default/access/agent:bert", "elsewhere/access/agent:anna", "default/access/system:stranger"} {
		if n := len(d.entries(stream)); n != 1 {
			t.Errorf("%d entries in %s", n, stream)
		}
	}
}

func TestWhatIsNoRefusalOfACallerIsNotRecorded(t *testing.T) {
	d := open(t)
	for _, err := range []error{
		nil, errors.New("a bug"), refusal.New(refusal.Unavailable, "later", "not now"), refusal.New(refusal.Unknown, "repeat", "who knows"),
	} {
		if got := d.Refused(t.Context(), "default", anna, "complete", "task_1", err); got != err { //nolint:errorlint // the very same
			t.Errorf("%v became %v", err, got)
		}
	}
	_ = d.Refused(t.Context(), "", ledger.Actor{}, "complete", "task_1", no)
	_ = d.Refused(t.Context(), "default", actor("system/courier"), "complete", "task_1", no)
	if err := d.Read(t.Context(), "default", actor("system/courier"), "task_1", "task", ""); err != nil {
		t.Error(err)
	}
	if last, err := d.ledger.Last(t.Context()); err != nil || last != 0 {
		t.Errorf("%d entries, %v", last, err)
	}
}

func TestWhatARefusedCallerSentIsCutShort(t *testing.T) {
	d := open(t)
	_ = d.Refused(t.Context(), "default", anna, "show", strings.Repeat("x", 100_000), refusal.New(refusal.Invalid, "send less", "%s", strings.Repeat("y", 100_000)))
	list := d.entries("default/access/agent:anna")
	if len(list) != 1 || len(list[0].Events[0].Data) > 1000 {
		t.Errorf("%d entries; the first has %d bytes", len(list), len(list[0].Events[0].Data))
	}
}

func TestWhatThereWasToExportKeepsItsForm(t *testing.T) {
	const frozen = `{"what":"everything","format":"proof","counted":{"of":"default","through":7,"entries":0,"root":"47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="}}`
	made, err := json.Marshal(access.Exported{What: "everything", Format: "proof", Counted: &proof.Counted{Of: "default", Through: 7, Root: new(proof.Tree).Root()}})
	if err != nil || string(made) != frozen {
		t.Errorf("%s, %v", made, err)
	}
}
