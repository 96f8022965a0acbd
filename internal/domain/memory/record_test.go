package memory_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
)

var update = flag.Bool("update", false, "write the frozen events again; only for events that were never released")

func printed(s memory.State) string { return fmt.Sprintf("%+v", s) }

// examples has one of each event with something in every field.
func examples() []memory.Event {
	v := memory.Version{Number: 2, Title: "a <title>", Text: "text “with” \u2028 signs", Salt: salt, Digest: memory.DigestOf(salt, "", "x"), By: "agent/writer", At: noon}
	return []memory.Event{
		memory.ItemStored{
			ID: "m1", Scope: memory.Task, Owner: "agent/writer", Source: memory.Source{Agent: "scout", Task: task, Handoff: task + ".h1"},
			Task: task, Conversation: "c1", Tags: []string{"db"}, Importance: 0.25, Pinned: true, Version: v,
		},
		memory.ItemRevised{Version: v},
		memory.ItemPinned{By: "agent/writer", At: noon},
		memory.ItemUnpinned{By: "agent/writer", At: noon},
		memory.ItemTagged{Tags: []string{"db"}, By: "agent/writer", At: noon},
		memory.ItemWeighed{Importance: 0.75, By: "agent/writer", At: noon},
		memory.ItemForgotten{By: "operator/olga", At: noon},
	}
}

func TestTheJSONOfEventsIsFrozen(t *testing.T) {
	ledgertest.Frozen(t, *update, memory.Events, examples())
}

func TestAnUnknownScopeIsRefusedWhenItIsDecoded(t *testing.T) {
	var s memory.State
	if err := json.Unmarshal([]byte(`{"scope":"team"}`), &s); err == nil {
		t.Error("taken")
	}
}

func TestTheDigestIsOverCanonicalJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		title, text := rapid.String().Draw(t, "title"), rapid.String().Draw(t, "text")
		raw, err := json.Marshal(map[string]string{"title": title, "salt": salt, "text": text})
		if err != nil {
			t.Fatal(err)
		}
		doc, err := envelope.Canonical(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := memory.DigestOf(salt, title, text), envelope.DigestOf(doc); got != want {
			t.Fatalf("digest %s, of the canonical JSON %s", got, want)
		}
	})
}

// TestWhateverHappensTheRulesHold throws random commands of random callers at one item.
func TestWhateverHappensTheRulesHold(t *testing.T) {
	readers := []memory.Reader{writer, reviewer, holder, auditor, operator, {}}
	rapid.Check(t, func(t *rapid.T) {
		var s memory.State
		now := noon
		for range rapid.IntRange(1, 30).Draw(t, "commands") {
			now = now.Add(time.Second)
			by := rapid.SampledFrom(readers).Draw(t, "by")
			c := drawCommand(t, by)
			before, shown := s, printed(s)
			events, err := memory.Decide(s, c, now)
			if err != nil && len(events) > 0 {
				t.Fatalf("%#v: refused and done", c)
			}
			for _, e := range events {
				s = memory.Fold(s, e)
			}
			if printed(before) != shown {
				t.Fatalf("%#v changed the state it started from", c)
			}
			if again, err := memory.Decide(s, c, now); len(events) > 0 && (err != nil || len(again) > 0) {
				t.Fatalf("%#v repeated: %v, %v", c, again, err)
			}
			if before.Exists() && len(events) > 0 && !memory.MayChange(before, by) {
				t.Fatalf("%s changed an item of %s", by.String(), before.Owner)
			}
			checkItem(t, before, s, readers)
		}
	})
}

func drawCommand(t *rapid.T, by memory.Reader) memory.Command {
	content := memory.Content{Text: rapid.SampledFrom([]string{"a", "b", "c", ""}).Draw(t, "text"), Salt: salt}
	switch rapid.IntRange(0, 9).Draw(t, "command") {
	case 0, 1, 2:
		scope := rapid.SampledFrom([]memory.Scope{memory.Private, memory.Task, memory.Workspace}).Draw(t, "scope")
		return memory.Remember{By: by, ID: "m1", Scope: scope, Task: task, Content: content}
	case 3:
		return memory.Pin{By: by, ID: "m1"}
	case 4:
		return memory.Unpin{By: by, ID: "m1"}
	case 5:
		return memory.Tag{By: by, ID: "m1", Tags: rapid.SliceOfN(rapid.SampledFrom([]string{"x", "y"}), 0, 3).Draw(t, "tags")}
	case 6:
		return memory.Weigh{By: by, ID: "m1", Importance: rapid.Float64Range(-0.1, 1.1).Draw(t, "importance")}
	case 7:
		return memory.Forget{By: by, ID: "m1"}
	}
	return memory.Revise{By: by, ID: "m1", Expect: rapid.IntRange(0, 3).Draw(t, "expect"), Content: content}
}

func checkItem(t *rapid.T, before, s memory.State, readers []memory.Reader) {
	if !slices.IsSorted(s.Tags) || len(s.Versions) < len(before.Versions) || before.Forgotten() && !s.Forgotten() ||
		before.Exists() && (s.Owner != before.Owner || s.Scope != before.Scope) {
		t.Fatalf("from %+v\nto %+v", before, s)
	}
	for n, v := range s.Versions {
		if v.Number != n+1 {
			t.Fatalf("version %d is numbered %d", n+1, v.Number)
		}
		if !s.Forgotten() && v.Digest != memory.DigestOf(v.Salt, v.Title, v.Text) || s.Forgotten() && v.Text+v.Title+v.Salt != "" {
			t.Fatalf("version %d is %+v", n+1, v)
		}
		ref := memory.Reference{ID: "m1", Version: v.Number, Digest: v.Digest}
		for _, r := range readers {
			got, status := memory.Fetch(s, r, ref)
			if memory.MayRead(s, r) == (status == memory.Missing) || !memory.MayRead(s, r) && got != (memory.Version{}) {
				t.Fatalf("%s gets %s, %+v", r.Principal, status, got)
			}
			r.Granted = []memory.Reference{ref}
			got, status = memory.Fetch(s, r, ref)
			if !memory.MayRead(s, r) && got.Text != "" && got.Number != v.Number || s.Forgotten() && got.Text != "" || status == memory.Missing && !r.IsZero() {
				t.Fatalf("%s gets %s, %+v by a grant of %d", r.Principal, status, got, v.Number)
			}
		}
	}
}

func FuzzReference(f *testing.F) {
	f.Add([]byte(`{"id":"m1"}`))
	f.Add([]byte(`{"id":"m1","version":1,"digest":"` + memory.DigestOf(salt, "", "x") + `"}`))
	f.Add([]byte(`{"id":"../m1","version":-1,"digest":"sha256:x"}`))
	s := memory.Fold(memory.State{}, examples()[0])
	f.Fuzz(func(t *testing.T, data []byte) {
		var r memory.Reference
		if json.Unmarshal(data, &r) != nil {
			return
		}
		if r.Check() != nil {
			if _, status := memory.Resolve(s, r); status != memory.Missing {
				t.Errorf("%+v is refused and yet %s", r, status)
			}
		}
		if again, err := json.Marshal(r); err != nil || json.Unmarshal(again, &r) != nil {
			t.Errorf("%+v does not come back", r)
		}
	})
}

func FuzzEvents(f *testing.F) {
	codec := ledger.NewCodec(memory.Events...)
	coded, err := codec.EncodeAll(examples())
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range coded {
		f.Add(e.Name, []byte(e.Data))
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		e, err := codec.Decode(ledger.Event{Name: name, Version: 1, Data: data})
		if err != nil {
			return
		}
		s := memory.Fold(memory.Fold(memory.State{}, examples()[0]), e)
		memory.Resolve(s, refer(s))
		memory.MayRead(s, writer)
	})
}
