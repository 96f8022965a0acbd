package envelope_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func seal(t testing.TB, e envelope.Envelope) envelope.Sealed {
	t.Helper()
	s, err := envelope.Seal(e, salt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func open(t testing.TB, b []byte) envelope.Envelope {
	t.Helper()
	e, _, err := envelope.Open(b)
	if err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return e
}

func TestASealedEnvelopeOpensUnchanged(t *testing.T) {
	for name, doc := range map[string]envelope.Envelope{"full": full(), "minimal": minimal()} {
		s := seal(t, doc)
		got, digest, err := envelope.Open(s.Bytes)
		if err != nil || digest != s.Digest || !envelope.ValidDigest(digest) {
			t.Fatalf("%s: digest %s, want %s, error %v", name, digest, s.Digest, err)
		}
		want := doc
		want.Version, want.Salt = envelope.Version, got.Salt
		got.Task.Data, want.Task.Data = nil, nil // spelled differently
		got.ExpectedOutput.Schema, want.ExpectedOutput.Schema = nil, nil
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got\n%+v\nwant\n%+v", name, got, want)
		}
	}
}

func TestTheSaltAloneChangesTheDigest(t *testing.T) {
	a := seal(t, minimal())
	b, err := envelope.Seal(minimal(), []byte("fedcba9876543210"))
	if err != nil || a.Digest == b.Digest {
		t.Errorf("digests %s and %s, error %v", a.Digest, b.Digest, err)
	}
	if c := seal(t, minimal()); c.Digest != a.Digest || !bytes.Equal(c.Bytes, a.Bytes) {
		t.Error("the same input gave another envelope")
	}
	for _, short := range [][]byte{nil, salt[:15], make([]byte, 65)} {
		if _, err := envelope.Seal(minimal(), short); refusal.CodeOf(err) != refusal.Invalid {
			t.Errorf("a salt of %d bytes: %v", len(short), err)
		}
	}
}

func TestTimesAreSealedInUTCToTheMicrosecond(t *testing.T) {
	doc := minimal()
	local := time.Date(2026, 1, 2, 3, 4, 5, 678_901_234, time.FixedZone("", 3600))
	doc.CreatedAt = local
	doc.History = []envelope.Step{{Agent: "a", Action: "x"}, {Time: local, Agent: "a", Action: "y"}}
	got := open(t, seal(t, doc).Bytes)
	want := time.Date(2026, 1, 2, 2, 4, 5, 678_901_000, time.UTC)
	if got.CreatedAt != want || got.History[1].Time != want {
		t.Errorf("got %v and %v, want %v", got.CreatedAt, got.History[1].Time, want)
	}
	if doc.History[1].Time != local {
		t.Error("sealing changed the caller's history")
	}
}

func TestOpenTakesNoOtherSpellingOfTheSameDocument(t *testing.T) {
	sealed := string(seal(t, full()).Bytes)
	for name, change := range map[string][2]string{
		"a blank":          {`"hops":2`, `"hops": 2`},
		"a number":         {`"hops":2`, `"hops":2.0`},
		"an escape":        {`Approve`, `\u0041pprove`},
		"a zone":           {`"created_at":"2026-03-04T05:06:07.00089Z"`, `"created_at":"2026-03-04T06:06:07.00089+01:00"`},
		"a longer time":    {`07.00089Z`, `07.000890Z`},
		"an empty list":    {`"gaps":[{"id":"m3","kind":"memory","reason":"forgotten"}]`, `"gaps":[]`},
		"a null":           {`"confidence":0.55`, `"confidence":null`},
		"an explicit zero": {`"hops":2`, `"hops":0`},
		"a line end":       {`}`, "}\n"},
	} {
		changed := sealed
		if name == "a line end" {
			changed += "\n"
		} else {
			changed = strings.Replace(sealed, change[0], change[1], 1)
		}
		if changed == sealed {
			t.Fatalf("%s: nothing to change in %s", name, sealed)
		}
		if _, _, err := envelope.Open([]byte(changed)); refusal.CodeOf(err) != refusal.Invalid {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := envelope.Decode([]byte(changed)); err != nil {
			t.Errorf("%s: Decode should be lenient, got %v", name, err)
		}
	}
}

func TestOpenRefusesWhatWasNeverSealed(t *testing.T) {
	raw, err := envelope.RenderJSON(minimal())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := envelope.Open(raw); err == nil || !strings.Contains(err.Error(), "salt: is missing") {
		t.Errorf("got %v", err)
	}
}

func TestTheNextEnvelopeNamesItsParentAndSharesNothing(t *testing.T) {
	first := seal(t, full())
	e := open(t, first.Bytes)
	next := e.Next(first.Digest)
	next.Handoff.Notes = "One more thing."
	next.Handoff.To[0], next.KeyFacts[0].Text, next.Constraints[2].Allow[0] = "x", "x", "x"
	next.Task.Data[0], *next.Confidence, *next.Constraints[1].Max = '[', 1, 1
	next.Memory[0].Text, next.Artifacts[0].Name, next.Conversation[0].Text = "x", "x", "x"
	next.History[0].Action, next.ExpectedOutput.Criteria[0], next.Decisions[0].ID = "x", "x", "x"
	if b, err := envelope.RenderJSON(e); err != nil || !bytes.Equal(b, first.Bytes) {
		t.Errorf("the first envelope changed (%v):\n%s\n%s", err, b, first.Bytes)
	}
	next.Task.Data = nil
	if got := open(t, seal(t, next).Bytes); got.Parent != first.Digest || got.Handoff.Notes != "One more thing." {
		t.Errorf("parent %s, notes %q", got.Parent, got.Handoff.Notes)
	}
}

func TestANewerMinorsFieldsSurviveEveryHop(t *testing.T) {
	in, err := os.ReadFile("testdata/frozen/newer-minor.json")
	if err != nil {
		t.Fatal(err)
	}
	e := open(t, in)
	if out, err := envelope.RenderJSON(e); err != nil || !bytes.Equal(out, in) {
		t.Fatalf("%v: got\n%s\nwant\n%s", err, out, in)
	}
	next := open(t, seal(t, e.Next(envelope.DigestOf(in))).Bytes)
	if next.Version != "1.7" || string(next.Extra["mood"]) != `{"b":[1,2.5],"colour":"<blue>"}` {
		t.Errorf("version %s, extra %s", next.Version, next.Extra)
	}
	for name, extra := range map[string]envelope.Extra{
		"handoff": next.Handoff.Extra, "task": next.Task.Extra, "key_facts": next.KeyFacts[0].Extra,
		"decisions": next.Decisions[0].Extra, "history": next.History[1].Extra, "constraints": next.Constraints[0].Extra,
		"expected_output": next.ExpectedOutput.Extra, "trace": next.Trace.Extra,
	} {
		if string(extra["later"]) != `"`+name+`"` {
			t.Errorf("%s lost its field: %s", name, extra)
		}
	}
}

func TestFrozenEnvelopesKeepTheirDigests(t *testing.T) {
	list, err := os.ReadFile("testdata/frozen/digests.txt")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/frozen/*.json")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		e, digest, err := envelope.Open(raw)
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		if line := filepath.Base(f) + " " + digest + "\n"; !strings.Contains(string(list), line) {
			t.Errorf("the digest of a frozen file changed, or is not listed: %s", line)
		}
		if out, err := envelope.RenderJSON(e); err != nil || !bytes.Equal(out, raw) {
			t.Errorf("%s comes out as\n%s (%v)", f, out, err)
		}
	}
}

func TestTodaysSealOfTheFullExampleIsTheFrozenOne(t *testing.T) {
	old, oldMinimal := fullOf10(), minimal()
	old.Version, oldMinimal.Version = "1.0", "1.0"
	of11, minimalOf11, of12, none, setters, authors := full(), minimal(), full(), full(), full(), full()
	of11.Version, minimalOf11.Version, of12.Version, none.Version = "1.1", "1.1", "1.2", "1.2"
	none.Handoff.Permissions, none.Constraints[2].Allow = []string{}, []string{}
	setters.Constraints[0].Added, setters.Constraints[0].HardBy, setters.Constraints[0].TextBy = true, "operator/ann", "agent/ben"
	setters.Constraints[1].MaxBy, setters.Constraints[2].AllowBy = "agent/ben", "agent/cyd"
	setters.Version = "1.3"
	authors.Handoff.PartOf, authors.Handoff.ResultTo = "case-88001", "operator/ann"
	authors.KeyFacts[0].By, authors.Decisions[0].By, authors.Memory[0].PinnedBy = "triage", "operator/ann", "operator/ann"
	authors.Omissions = append(authors.Omissions, envelope.Omission{Kind: envelope.PartDecision, ID: "d7", Tokens: 9, Reason: envelope.OverBudget, Important: true})
	recorded := full()
	recorded.History[0].Recorded = true
	recorded.Dropped = []envelope.Dropped{{Kind: envelope.DroppedSteps, Count: 12, Task: "case-88123"}, {Kind: envelope.DroppedAnswers, Count: 1, Task: "case-88001"}}
	all := recorded
	all.Handoff.PartOf, all.Handoff.ResultTo, all.Handoff.PartFor, all.Handoff.By = "case-88001", "operator/ann", "Refund the charge.", "operator/ben"
	all.KeyFacts, all.Memory = slices.Clone(all.KeyFacts), slices.Clone(all.Memory)
	all.KeyFacts[0].By, all.KeyFacts[0].Ruled, all.KeyFacts[1].By, all.KeyFacts[1].WasBy = "operator/ann", true, "triage", "support-tier1"
	all.Memory[0].PinnedBy = "operator/ann"
	all.Omissions = append(slices.Clone(all.Omissions), envelope.Omission{Kind: envelope.PartDecision, ID: "d7", Tokens: 9, Reason: envelope.OverBudget, Important: true})
	lineage := full()
	lineage.KeyFacts[1].Lineage = []string{"f00", "f000"}
	for name, doc := range map[string]envelope.Envelope{
		"lineage-1.4":  lineage,
		"all-1.4":      all,
		"recorded-1.4": recorded,
		"full":         old, "minimal": oldMinimal, "full-1.1": of11, "minimal-1.1": minimalOf11,
		"full-1.2": of12, "none-1.2": none, "setters-1.3": setters, "authors-1.4": authors,
	} {
		want, err := os.ReadFile("testdata/frozen/" + name + ".json")
		if got := seal(t, doc).Bytes; err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s (%v): got\n%s\nwant\n%s", name, err, got, want)
		}
	}
}

func TestTheNextEnvelopeIsOfThisMinorAndSaysNothingOfTheLastPacking(t *testing.T) {
	raw, err := os.ReadFile("testdata/frozen/full.json")
	if err != nil {
		t.Fatal(err)
	}
	old := open(t, raw)
	next := old.Next(envelope.DigestOf(raw))
	next.Memory = []envelope.MemoryRef{{ID: "m1", Text: "x"}}
	if got := open(t, seal(t, next).Bytes); old.Version != "1.0" || got.Version != envelope.Version {
		t.Errorf("a %s was followed by a %s", old.Version, got.Version)
	}
	packed := full().Next(old.Parent)
	if len(packed.Omissions)+len(packed.Gaps) > 0 || !packed.Packing.IsZero() || len(packed.Memory) != 2 {
		t.Errorf("the next envelope has %+v", packed)
	}
}

func BenchmarkSeal1KiB(b *testing.B) {
	doc := full()
	doc.Task.Data = json.RawMessage(`{"rows":[` + strings.TrimSuffix(strings.Repeat(`{"id": 1001, "name": "some name here", "amount": 1.25},`, 19), ",") + `]}`)
	for name, e := range map[string]envelope.Envelope{
		"data": {Handoff: doc.Handoff, Task: doc.Task},
		"text": {Handoff: doc.Handoff, Task: envelope.Task{Intent: "x", State: strings.Repeat("A line of some text.\n", 49)}},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s, err := envelope.Seal(e, salt)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(s.Bytes)))
			}
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	s := seal(b, full())
	b.SetBytes(int64(len(s.Bytes)))
	for b.Loop() {
		if _, _, err := envelope.Open(s.Bytes); err != nil {
			b.Fatal(err)
		}
	}
}
