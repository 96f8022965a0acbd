package artifacts_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/artifacts"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

func TestWhoPutAnArtifactFindsItAfterARestartAndStrangersDoNot(t *testing.T) {
	h := open(t)
	d := h.put(ann, "patch")
	h.finds(ann, d, "patch")
	h.misses(bob, d)
	h.finds(olga, d, "patch")
	h.finds(as(identity.Auditor, "zoe"), d, "patch")
	h.restart()
	h.finds(ann, d, "patch")
	h.misses(bob, d)
	h.put(bob, "patch") // who has the content may have it
	h.finds(bob, d, "patch")
	h.misses(cy, d)
	h.misses(ann, artifact.DigestOf([]byte("never put")))
	h.recorded(1, "artifact-stored", string(d), `"by":"agent/ann"`, `"bytes":5`)
	h.recorded(1, "artifact-stored", string(d), `"by":"agent/bob"`)
}

func TestEveryFetchAndEveryRefusalIsRecorded(t *testing.T) {
	h := open(t)
	d := h.put(ann, "patch")
	task := h.refer(1, cy, d)
	h.readers[task] = "cy"
	r, _, err := h.artifacts.Get(t.Context(), cy, d)
	if err != nil {
		t.Fatal(err)
	}
	h.recorded(1, "agent:cy", "content-read", `"artifact"`, string(d), task) // and not a byte was read
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = h.get(bob, d)
	h.refused(err, refusal.NotFound)
	h.recorded(1, "agent:bob", "attempt-refused", `"artifact"`, string(d))
	if _, err := h.artifacts.Info(t.Context(), cy, d); err != nil {
		t.Fatal(err)
	}
	h.recorded(1, "content-read")
	h.ledger.Break(errors.New("disk full"))
	_, err = h.get(ann, d)
	h.refused(err, refusal.Unavailable)
}

func TestAnArtifactIsForThoseWhoMayReadATaskThatRefersToIt(t *testing.T) {
	h := open(t)
	d := h.put(ann, "patch")
	one, two := h.refer(1, cy, d), h.refer(2, cy, d)
	h.misses(cy, d) // it has a part in both tasks, but may not read what they say
	h.readers[one] = "cy"
	h.finds(cy, d, "patch")
	h.readers[one], h.readers[two] = "", "bob"
	h.misses(bob, d) // it has no part in the task
	h.misses(cy, d)
}

func TestViewsThatAreBehindRefuseNobody(t *testing.T) {
	h := open(t)
	d := h.put(ann, "patch")
	h.ledger.SetFaults(ledgertest.Faults{Lag: 50 * time.Millisecond})
	for n := 1; n <= 5; n++ {
		h.readers[h.refer(n, cy, d)] = "cy"
		h.finds(cy, d, "patch")
	}
}

func TestWorkspacesDoNotSeeEachOther(t *testing.T) {
	h := open(t)
	d := h.put(ann, "patch")
	other := ann
	other.Workspace = "other"
	h.misses(other, d)
	boss := olga
	boss.Workspace = "other"
	h.misses(boss, d)
	h.readers[h.refer(1, other, d)] = "ann"
	h.misses(other, d)
	if found, gaps, err := h.artifacts.Check(t.Context(), boss, refs(d)); err != nil || len(found) != 0 || len(gaps) != 1 {
		t.Errorf("%v, %v, %v", found, gaps, err)
	}
	h.clock.Advance(2 * time.Hour)
	if swept := h.sweep(); swept.Deleted != 1 { // what another workspace refers to is another artifact
		t.Errorf("%+v", swept)
	}
}

func TestContentThatIsNotAsDeclaredLeavesNothing(t *testing.T) {
	h := open(t)
	declared := artifact.DigestOf([]byte("whole"))
	for _, content := range []string{"whale", "whol", "whole and more", ""} {
		_, err := h.artifacts.Put(t.Context(), ann, strings.NewReader(content), declared)
		h.refused(err, refusal.Invalid)
	}
	_, err := h.artifacts.Put(t.Context(), ann, strings.NewReader("whole"), "whole")
	h.refused(err, refusal.Invalid)
	_, err = h.artifacts.Put(t.Context(), as(identity.Auditor, "zoe"), strings.NewReader("whole"), "")
	h.refused(err, refusal.NotPermitted)
	_, err = h.artifacts.Put(t.Context(), ann, strings.NewReader(strings.Repeat("x", 1<<20+1)), "")
	h.refused(err, refusal.TooLarge)
	broken := errors.New("the line is dead")
	if _, err := h.artifacts.Put(t.Context(), ann, io.MultiReader(strings.NewReader("who"), iotest.ErrReader(broken)), declared); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if n := h.files(); n != 0 {
		t.Errorf("%d files are left", n)
	}
	h.recorded(0, "artifact-stored")
	if _, err := h.artifacts.Put(t.Context(), ann, strings.NewReader("whole"), declared); err != nil {
		t.Error(err)
	}
}

func TestAnArtifactThatCouldNotBeRecordedIsNobodys(t *testing.T) {
	h := open(t)
	h.ledger.Break(errors.New("disk full"))
	_, err := h.artifacts.Put(t.Context(), ann, strings.NewReader("patch"), "")
	h.refused(err, refusal.Unavailable)
	h.ledger.Break(nil)
	d := artifact.DigestOf([]byte("patch"))
	h.misses(ann, d)
	h.clock.Advance(2 * time.Hour)
	if swept := h.sweep(); swept.Deleted != 1 {
		t.Errorf("%+v", swept)
	}
	h.recorded(0, "artifact-released")
}

func TestADamagedArtifactIsNoticedAndRepaired(t *testing.T) {
	h := open(t)
	d := h.put(ann, "patch")
	file := filepath.Join(h.dir, "data", home, d.Hex()[:2], d.Hex())
	if err := os.WriteFile(file, []byte("p4tch"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := h.get(ann, d); !errors.Is(err, artifact.ErrCorrupt) {
		t.Errorf("%v", err)
	}
	h.put(ann, "patch")
	h.finds(ann, d, "patch")
}

func refs(digests ...artifact.Digest) (list []envelope.Artifact) {
	for n, d := range digests {
		list = append(list, envelope.Artifact{Digest: string(d), Name: fmt.Sprint(n)})
	}
	return list
}

func TestAnEnvelopeMayReferToWhatItsSenderMayRead(t *testing.T) {
	h := open(t)
	mine, theirs, shown := h.put(ann, "mine"), h.put(bob, "theirs"), h.put(bob, "shown")
	h.readers[h.refer(1, ann, shown)] = "ann"
	nowhere := artifact.DigestOf([]byte("nowhere"))
	found, gaps, err := h.artifacts.Check(t.Context(), ann, refs(mine, theirs, shown, nowhere, mine))
	if err != nil || len(found) != 3 || len(gaps) != 2 {
		t.Fatalf("%+v, %+v, %v", found, gaps, err)
	}
	if found[0].Bytes != 4 || found[1].Name != "2" || found[1].Bytes != 5 || found[2].Name != "4" {
		t.Errorf("found: %+v", found)
	}
	for i, d := range []artifact.Digest{theirs, nowhere} {
		if g := gaps[i]; g.Kind != envelope.PartArtifact || g.ID != string(d) || g.Reason != envelope.GapNotFound {
			t.Errorf("gap: %+v", g)
		}
	}
	_, _, err = h.artifacts.Check(t.Context(), ann, refs("sha256:abc"))
	h.refused(err, refusal.Invalid)
	_, _, err = h.artifacts.Check(t.Context(), ann, make([]envelope.Artifact, envelope.MaxArtifacts+1))
	h.refused(err, refusal.TooLarge)
	h.recorded(0, "content-read")
}

func TestWhatNothingRefersToIsSweptAfterAWhile(t *testing.T) {
	h := open(t)
	loose, checked, referred := h.put(ann, "loose"), h.put(ann, "checked"), h.put(ann, "referred")
	h.refer(1, ann, referred)
	if swept := h.sweep(); swept != (artifact.Swept{Kept: 3}) {
		t.Errorf("at once: %+v", swept)
	}
	h.clock.Advance(59 * time.Minute)
	if _, _, err := h.artifacts.Check(t.Context(), ann, refs(checked)); err != nil {
		t.Fatal(err)
	}
	young := h.put(bob, "young")
	h.clock.Advance(2 * time.Minute)
	if swept := h.sweep(); swept != (artifact.Swept{Kept: 3, Deleted: 1, Freed: 5}) {
		t.Errorf("after an hour: %+v", swept)
	}
	h.misses(ann, loose)
	h.misses(olga, loose)
	h.finds(ann, checked, "checked")
	h.finds(bob, young, "young")
	h.clock.Advance(1000 * time.Hour)
	if swept := h.sweep(); swept != (artifact.Swept{Kept: 1, Deleted: 2, Freed: 12}) {
		t.Errorf("much later: %+v", swept)
	}
	h.finds(ann, referred, "referred")
	h.recorded(3, "by system/shelf: artifact-released")
	// What is put again is there again, and recorded again.
	h.put(ann, "loose")
	h.finds(ann, loose, "loose")
	h.recorded(2, "artifact-stored", string(loose))
}

// emptied is views in the middle of a rebuild: they know of a position what they had up to it.
type emptied struct {
	view.References
	at ledger.Position
}

func (e emptied) IsReferred(context.Context, string, string) (bool, ledger.Position, error) {
	return false, e.at, nil
}

func TestNothingIsSweptByViewsThatAreBeingRebuilt(t *testing.T) {
	h := open(t)
	d := h.put(ann, "referred")
	h.refer(1, ann, d)
	h.clock.Advance(2 * time.Hour)
	v := h.views.Store()
	last, err := h.ledger.Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v.References = emptied{v.References, last - 1}
	s, err := artifacts.New(h.store, h.ledger, v, nil, nil, h.clock.Now, artifacts.Options{Grace: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if swept, err := s.Sweep(t.Context()); err == nil || swept.Deleted != 0 {
		t.Errorf("%+v, %v", swept, err)
	}
	h.finds(ann, d, "referred")
	h.recorded(0, "artifact-released")
}

func TestTooManyContentsAtOnceAreRefusedUntilOthersEnd(t *testing.T) {
	h := open(t)
	d := h.put(ann, "patch")
	var readers []io.Closer
	for range 8 {
		r, _, err := h.artifacts.Get(t.Context(), ann, d)
		if err != nil {
			t.Fatal(err)
		}
		readers = append(readers, r)
	}
	_, _, err := h.artifacts.Get(t.Context(), ann, d)
	h.refused(err, refusal.Unavailable)
	_, err = h.artifacts.Put(t.Context(), ann, strings.NewReader("more"), "")
	h.refused(err, refusal.Unavailable)
	h.finds(olga, d, "patch")
	for range 2 { // closing twice counts once
		if err := readers[0].Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Fatal(err)
		}
	}
	h.put(ann, "more")
	r, _, err := h.artifacts.Get(t.Context(), ann, d)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = h.artifacts.Get(t.Context(), ann, d)
	h.refused(err, refusal.Unavailable)
	for _, c := range append(readers[1:], r) {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAServerWithoutAStoreSaysSo(t *testing.T) {
	h := open(t)
	s, err := artifacts.New(nil, h.ledger, h.views.Store(), nil, nil, h.clock.Now, artifacts.Options{})
	if err != nil {
		t.Fatal(err)
	}
	system := caller.System(home, "test")
	_, err = s.Put(t.Context(), system, strings.NewReader("x"), "")
	h.refused(err, refusal.Conflict)
	_, _, err = s.Get(t.Context(), system, artifact.DigestOf(nil))
	h.refused(err, refusal.Conflict)
	if found, gaps, err := s.Check(t.Context(), ann, nil); err != nil || found != nil || gaps != nil {
		t.Errorf("nothing to check: %v, %v, %v", found, gaps, err)
	}
	_, _, err = s.Check(t.Context(), ann, refs(artifact.DigestOf(nil)))
	h.refused(err, refusal.Conflict)
	if swept, err := s.Sweep(t.Context()); err != nil || swept != (artifact.Swept{}) {
		t.Errorf("%+v, %v", swept, err)
	}
}

var update = flag.Bool("update", false, "write the frozen events again; only for events that were never released")

func TestTheJSONOfEventsIsFrozen(t *testing.T) {
	const file = "testdata/events.jsonl"
	codec := ledger.NewCodec(artifact.Events...)
	d := artifact.DigestOf([]byte("patch"))
	examples := []artifact.Event{artifact.Stored{Digest: d, Bytes: 5, By: "agent/ann"}, artifact.Released{Digest: d}}
	coded, err := codec.EncodeAll(examples)
	if err != nil || len(examples) != len(artifact.Events) {
		t.Fatalf("%d examples of %d events, %v", len(examples), len(artifact.Events), err)
	}
	var now bytes.Buffer
	for i, e := range coded {
		fmt.Fprintf(&now, "%s %d %s\n", e.Name, e.Version, e.Data)
		back, err := codec.Decode(ledger.Event{Name: e.Name, Version: 1, Data: e.Data})
		if err != nil || !reflect.DeepEqual(back, examples[i]) {
			t.Errorf("%s comes back as %+v, %v", e.Name, back, err)
		}
	}
	if *update {
		if err := os.WriteFile(file, now.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if frozen, err := os.ReadFile(file); err != nil || !bytes.Equal(frozen, now.Bytes()) {
		t.Errorf("events are not written as they were (%v):\n%s", err, now.Bytes())
	}
}
