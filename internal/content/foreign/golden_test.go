package foreign_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/foreign"
)

var update = flag.Bool("update", false, "rewrite the golden files; commit only what you understand")

func sample(t testing.TB, format foreign.Format) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + string(format) + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decode(t testing.TB, doc []byte) (foreign.Task, []foreign.Note) {
	t.Helper()
	task, notes, err := foreign.Decode(doc, envelope.Converter{})
	if err != nil {
		t.Fatalf("%v\n%s", err, doc)
	}
	return task, notes
}

func TestTheSamplesBecomeTasks(t *testing.T) {
	for _, format := range foreign.Formats() {
		t.Run(string(format), func(t *testing.T) {
			doc := sample(t, format)
			task, notes := decode(t, doc)
			if task.Format != format {
				t.Errorf("read as %q", task.Format)
			}
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			e.SetIndent("", "  ")
			if err := e.Encode(map[string]any{"task": task, "notes": notes}); err != nil {
				t.Fatal(err)
			}
			name := "testdata/" + string(format) + ".golden"
			if *update {
				if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil || !bytes.Equal(want, b.Bytes()) {
				t.Errorf("%v: got\n%s\nwant\n%s", err, b.Bytes(), want)
			}
		})
	}
}

// TestNothingOfASampleIsLost looks for every text and number of the samples in what was made of them.
func TestNothingOfASampleIsLost(t *testing.T) {
	for _, format := range foreign.Formats() {
		doc := sample(t, format)
		task, _ := decode(t, doc)
		out, err := json.Marshal(task)
		if err != nil {
			t.Fatal(err)
		}
		kept := leaves(t, out)
		for _, leaf := range leaves(t, doc) {
			found := false
			for _, k := range kept {
				found = found || strings.Contains(k, leaf)
			}
			if !found && !transformed[leaf] {
				t.Errorf("%s: %s is lost in %s", format, leaf, out)
			}
		}
	}
}

// transformed are the values that are written in another way.
var transformed = map[string]bool{
	"capability-mismatch": true, // capability_mismatch
	"30":                  true, // 30s
	"1767945600.0":        true, // 2026-01-09T08:00:00Z
}

func leaves(t *testing.T, doc []byte) []string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	var all []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		case string:
			all = append(all, v)
		case json.Number:
			all = append(all, v.String())
		}
	}
	walk(v)
	return all
}

// TestAFieldWeDoNotKnowIsKeptAndNoted puts one into each sample, at the top and inside.
func TestAFieldWeDoNotKnowIsKeptAndNoted(t *testing.T) {
	for _, format := range foreign.Formats() {
		doc := strings.Replace(string(sample(t, format)), "{", `{"mood": {"colour": "<blue>"}, `, 1)
		task, notes := decode(t, []byte(doc))
		where := task.Content.Data
		if format == foreign.Envelope { // it stays where it stood, and that needs no note
			where = task.Envelope
		}
		if !strings.Contains(string(where), `"mood":{"colour":"<blue>"}`) {
			t.Errorf("%s: the field is not in %s", format, where)
		}
		noted := false
		for _, n := range notes {
			noted = noted || n.Field == "mood" && strings.Contains(n.Text, "data.mood")
		}
		if !noted && format != foreign.Envelope {
			t.Errorf("%s: no note in %v", format, notes)
		}
	}
}
