package envelope_test

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// predecessor converts between our major and a made-up one before it, 0.9, which was flat and had facts and constraints
// without ids. There is no such version outside these tests: it shows that the way is there and holds.
var predecessor = envelope.Conversion{Older: 0, Up: upFrom09, Down: downTo09}

func upFrom09(doc map[string]any) (lost []string, err error) {
	header, task := map[string]any{}, map[string]any{}
	for old, place := range map[string]struct {
		in   map[string]any
		name string
	}{"task": {header, "task_id"}, "sender": {header, "from"}, "goal": {task, "intent"}, "status": {task, "state"}} {
		if v, ok := doc[old]; ok {
			place.in[place.name] = v
			delete(doc, old)
		}
	}
	if r, ok := doc["receiver"]; ok {
		header["to"] = []any{r}
		delete(doc, "receiver")
	}
	if facts, ok := doc["facts"].([]any); ok {
		doc["key_facts"] = withIDs(facts, "f", nil)
		delete(doc, "facts")
	}
	if rules, ok := doc["rules"].([]any); ok {
		doc["constraints"] = withIDs(rules, "c", map[string]any{"kind": "preference"})
		delete(doc, "rules")
	}
	for name := range doc {
		if !slices.Contains([]string{"version", "salt", "parent", "key_facts", "constraints"}, name) {
			lost = append(lost, name)
			delete(doc, name)
		}
	}
	doc["version"], doc["handoff"], doc["task"] = "1.0", header, task
	return lost, nil
}

func withIDs(texts []any, letter string, more map[string]any) []any {
	out := make([]any, len(texts))
	for i, text := range texts {
		item := map[string]any{"id": letter + strconv.Itoa(i+1), "text": text}
		maps.Copy(item, more)
		out[i] = item
	}
	return out
}

func downTo09(doc map[string]any) (lost []string, err error) {
	old := map[string]any{"version": "0.9"}
	take := func(from map[string]any, name, oldName string) {
		if v, ok := from[name]; ok {
			old[oldName] = v
			delete(from, name)
		}
	}
	header, _ := doc["handoff"].(map[string]any)
	task, _ := doc["task"].(map[string]any)
	take(header, "task_id", "task")
	take(header, "from", "sender")
	take(task, "intent", "goal")
	take(task, "state", "status")
	take(doc, "salt", "salt")
	take(doc, "parent", "parent")
	if to, ok := header["to"].([]any); ok && len(to) == 1 {
		old["receiver"] = to[0]
		delete(header, "to")
	} else if len(to) > 1 {
		return nil, errors.New("0.9 has one receiver only")
	}
	for name, oldName := range map[string]string{"key_facts": "facts", "constraints": "rules"} {
		list, _ := doc[name].([]any)
		var texts []any
		for _, v := range list {
			item, _ := v.(map[string]any)
			texts = append(texts, item["text"])
			for k := range item {
				if k != "text" && k != "id" {
					lost = append(lost, name+"."+k)
				}
			}
		}
		if texts != nil {
			old[oldName] = texts
		}
		delete(doc, name)
	}
	delete(doc, "version")
	for _, part := range []struct {
		prefix string
		of     map[string]any
	}{{"handoff.", header}, {"task.", task}, {"", doc}} {
		for name := range part.of {
			if part.prefix != "" || name != "handoff" && name != "task" {
				lost = append(lost, part.prefix+name)
			}
		}
	}
	clear(doc)
	maps.Copy(doc, old)
	return lost, nil
}

func migration(t testing.TB) envelope.Converter {
	t.Helper()
	c, err := envelope.NewConverter(predecessor)
	if err != nil || !slices.Equal(c.Majors(), []int{0, 1}) {
		t.Fatal(c.Majors(), err)
	}
	return c
}

func frozen(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(b)
}

func TestAnOlderMajorIsUpgradedAsFrozen(t *testing.T) {
	c := migration(t)
	got, err := c.ToMajor(frozen(t, "convert/old-0.9.json"), 1)
	if want := frozen(t, "convert/old-0.9.up.json"); err != nil || !bytes.Equal(got.Bytes, want) {
		t.Fatalf("%v: got\n%s\nwant\n%s", err, got.Bytes, want)
	}
	if !slices.Equal(got.Lost, []string{"mood"}) || got.Major != 1 || got.Digest != envelope.DigestOf(got.Bytes) {
		t.Errorf("%+v", got)
	}
	e, lost, err := c.Read(frozen(t, "convert/old-0.9.json"))
	if err != nil || e.Task.Intent != "Split the orders table." || e.KeyFacts[1].ID != "f2" || len(lost) != 1 {
		t.Errorf("%+v, lost %v, %v", e, lost, err)
	}
	// And back again: nothing of what both have is lost.
	back, err := c.ToMajor(got.Bytes, 0)
	if err != nil || string(back.Bytes) != strings.Replace(string(frozen(t, "convert/old-0.9.json")), `"mood":"calm",`, "", 1) {
		t.Errorf("%v: %s", err, back.Bytes)
	}
}

func TestAnEnvelopeOfOursIsDowngradedAsFrozen(t *testing.T) {
	c := migration(t)
	e := open(t, frozen(t, "frozen/full-1.1.json"))
	e.Handoff.To = e.Handoff.To[:1]
	copies, err := c.Emit(seal(t, e), 1, 0)
	if err != nil || len(copies) != 2 {
		t.Fatal(copies, err)
	}
	if s := seal(t, e); !bytes.Equal(copies[0].Bytes, s.Bytes) || copies[0].Digest != s.Digest || copies[0].Lost != nil {
		t.Errorf("the copy in our own major is not the envelope: %+v", copies[0])
	}
	if copies[1].Of != copies[0].Digest || copies[1].Digest == copies[0].Digest {
		t.Errorf("of %s, digests %s and %s", copies[1].Of, copies[0].Digest, copies[1].Digest)
	}
	got := string(copies[1].Bytes) + "\n" + strings.Join(copies[1].Lost, "\n")
	if want := frozen(t, "convert/full.down-0.9.txt"); got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAnUnknownMajorIsAClearError(t *testing.T) {
	sealed := seal(t, full())
	var production envelope.Converter
	for name, s := range map[string]struct {
		do   func() error
		want string
	}{
		"to emit":          {func() error { _, err := production.Emit(sealed, 1, 2); return err }, "version: 2 is of an unknown major version: this server reads 1"},
		"to read":          {func() error { _, _, err := production.Read([]byte(`{"version":"0.9"}`)); return err }, "0.9 is of an unknown major version: this server reads 1"},
		"to read, later":   {func() error { _, err := migration(t).ToMajor([]byte(`{"version":"2.0"}`), 1); return err }, "2.0 is of an unknown major version: this server reads 0, 1"},
		"a version number": {func() error { _, err := production.ToMajor([]byte(`{"version":1}`), 1); return err }, "version: is missing or is not text"},
		"no version":       {func() error { _, err := production.ToMajor([]byte(`{}`), 1); return err }, "version: is missing"},
		"asked for twice":  {func() error { _, err := production.Emit(sealed, 1, 1); return err }, "major 1 is given twice"},
		"not convertible":  {func() error { _, err := migration(t).Emit(sealed, 0); return err }, "cannot be converted to major 0: 0.9 has one receiver only"},
		"not ours after":   {func() error { _, _, err := migration(t).Read([]byte(`{"version":"0.9","goal":7}`)); return err }, "task.intent: has the wrong type"},
		"not sealed": {func() error {
			_, err := production.Emit(envelope.Sealed{Bytes: []byte(`{"version":"1.0"}`)}, 1)
			return err
		}, "is missing"},
		"another digest": {func() error {
			_, err := production.Emit(envelope.Sealed{Bytes: sealed.Bytes, Digest: "sha256:00"}, 1)
			return err
		}, "has the digest"},
		"too large": {func() error { _, err := production.ToMajor(make([]byte, envelope.MaxSize+1), 1); return err }, "the limit is"},
	} {
		err := s.do()
		if r, ok := refusal.As(err); !ok || !strings.Contains(r.Message, s.want) || r.Hint == "" {
			t.Errorf("%s: got %v, want %q", name, err, s.want)
		}
	}
}

func TestStepsMustLeadFromOurMajorWithoutAHole(t *testing.T) {
	step := func(older int) envelope.Conversion {
		return envelope.Conversion{Older: older, Up: upFrom09, Down: downTo09}
	}
	for name, steps := range map[string][]envelope.Conversion{
		"a hole": {step(5)}, "twice": {step(0), step(0)}, "below zero": {step(-1)}, "half": {{Older: 0, Up: upFrom09}},
	} {
		if _, err := envelope.NewConverter(steps...); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if c, err := envelope.NewConverter(step(0), step(1)); err != nil || !slices.Equal(c.Majors(), []int{0, 1, 2}) {
		t.Errorf("%v, %v", c.Majors(), err)
	}
}

func TestAStepThatForgetsTheVersionIsCaught(t *testing.T) {
	forgets := func(map[string]any) ([]string, error) { return nil, nil }
	c, err := envelope.NewConverter(envelope.Conversion{Older: 0, Up: forgets, Down: forgets})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Emit(seal(t, full()), 0); err == nil || !strings.Contains(err.Error(), "after the conversion to major 0") {
		t.Errorf("got %v", err)
	}
}

// TestDownAndUpAgainKeepsWhatBothMajorsHave holds for any envelope with one receiver.
func TestDownAndUpAgainKeepsWhatBothMajorsHave(t *testing.T) {
	c := migration(t)
	rapid.Check(t, func(t *rapid.T) {
		doc := drawEnvelope(t)
		doc.Handoff.To = []string{"bob"}
		s, err := envelope.Seal(doc, salt)
		if err != nil {
			t.Fatal(err)
		}
		down, err := c.ToMajor(s.Bytes, 0)
		if err != nil {
			t.Fatal(err)
		}
		e, lost, err := c.Read(down.Bytes)
		if err != nil || len(lost) > 0 {
			t.Fatalf("%v, lost %v", err, lost)
		}
		if e.Task.Intent != doc.Task.Intent || e.Task.State != doc.Task.State || len(e.KeyFacts) != len(doc.KeyFacts) || e.Handoff.From != doc.Handoff.From {
			t.Fatalf("got %+v\nof %+v", e, doc)
		}
		for i, f := range e.KeyFacts {
			if f.Text != doc.KeyFacts[i].Text {
				t.Fatalf("fact %d became %q", i, f.Text)
			}
		}
	})
}

func FuzzToMajor(f *testing.F) {
	f.Add(frozen(f, "convert/old-0.9.json"), 1)
	f.Add(frozen(f, "frozen/minimal.json"), 0)
	f.Add([]byte(`{"version":"0.9","facts":[1],"rules":[null],"receiver":{}}`), 1)
	f.Add([]byte(`{"version":"1.9","handoff":7,"task":[],"key_facts":{}}`), 0)
	f.Fuzz(func(t *testing.T, doc []byte, major int) {
		got, err := migration(t).ToMajor(doc, major)
		if err != nil {
			if _, ok := refusal.As(err); !ok {
				t.Fatalf("not a refusal: %v", err)
			}
			return
		}
		if major == 1 {
			if _, err := envelope.Decode(got.Bytes); err != nil {
				t.Fatalf("converted to what cannot be read: %v\n%s", err, got.Bytes)
			}
		}
	})
}
