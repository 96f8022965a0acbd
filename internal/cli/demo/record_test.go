package demo

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

// recordOfDemo is a short record of a demo.
func recordOfDemo(t *testing.T) record {
	t.Helper()
	r := record{
		task:   client.Task{ID: "task_1", Expected: client.Expected{MaxBytes: 10}, Result: &client.Result{Text: "in sha256:1"}},
		report: file{Digest: "sha256:1", Name: reportName, Bytes: 30},
	}
	for i, e := range []struct{ event, details string }{
		{"envelope-sealed", `{"envelope":{"handoff":{"from":"admin/local"},"task":{"ask":"list"}}}`},
		{"envelope-rendered", `{"agent":"one","envelope":{"memory":[{"id":"m1","title":"Style","text":"x"}]}}`},
		{"constraint-set", `{"constraint":{"id":"paths","kind":"prohibition","text":"no paths"}}`},
		{"envelope-sealed", `{"envelope":{"handoff":{"from":"one"},"task":{"ask":"write"},"key_facts":[{"text":"fact"}],"constraints":[{"id":"paths","text":"no paths"}]}}`},
		{"envelope-rendered", `{"agent":"two","envelope":{"memory":[{"id":"m1","title":"Style","text":"x"}],"constraints":[{"id":"paths"}]}}`},
	} {
		entry := client.AuditEntry{Event: e.event, Agent: "one", Position: uint64(i + 1), Details: json.RawMessage(e.details)}
		r.trail.Entries = append(r.trail.Entries, entry)
		if err := r.add(entry); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	r.access, err = accesses(strings.NewReader(`
		{"kind":"task","event":"task-completed","agent":"two","details":{"what":"memory m2 version 1"}}
		{"kind":"access","event":"content-read","agent":"admin/local","details":{"what":"memory m2 version 1"}}
		{"kind":"access","event":"content-read","agent":"two","details":{"what":"memory m2 version 1"}}
		{"kind":"access","event":"attempt-refused","agent":"two","details":{"verb":"complete","subject":"task_1","message":"too long"}}`))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var kept = []client.MemoryItem{{ID: "m2", Title: "Count", Author: "agent/one"}}

func TestWhatTheDemoClaimsIsReadFromTheRecord(t *testing.T) {
	lines, err := recordOfDemo(t).summary("m1", kept)
	want := []string{
		"memory      Style: pinned, and therefore in all 2 prompts",
		"memory      Count: added by one, in no prompt, and found by two",
		"constraint  paths: set by one, repeated by nobody, and in the prompts of two",
		"refused     two: too long, at most 10 are expected; the program fixed it to 11 bytes",
		"artifact    report.md: 30 bytes, referred to by its digest in envelopes and the result",
	}
	if err != nil || !slices.Equal(lines, want) {
		t.Errorf("%q, %v", lines, err)
	}
}

func TestTheDemoClaimsNothingThatDidNotHappen(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*record)
		want  string
	}{
		"a prompt without what is pinned": {func(r *record) { r.received[1].Memory[0].Text = "" }, "the prompt of two lacks the memory item m1"},
		"nobody looked":                   {func(r *record) { r.access = r.access[:1] }, "no agent has read"},
		"it stood in the prompt":          {func(r *record) { r.received[1].Memory[0].ID = "m2" }, "the prompt of two lacks"},
		"no need to look": {func(r *record) {
			r.received[0].Memory = append(r.received[0].Memory, r.received[0].Memory[0])
			r.received[0].Memory[1].ID = "m2"
		}, "the prompt of one has the memory item"},
		"no constraint":                    {func(r *record) { r.trail.Entries = r.trail.Entries[:2] }, "no constraint was added"},
		"a constraint that somebody told":  {func(r *record) { r.sent[1].Facts[0].Text = "mind: no paths" }, "one has repeated the constraint paths"},
		"a constraint that was lost":       {func(r *record) { r.received[1].Constraints = nil }, "did not reach two"},
		"no refusal":                       {func(r *record) { r.access = r.access[:2] }, "no result was refused"},
		"a result that names no report":    {func(r *record) { r.task.Result = &client.Result{Text: "fine"} }, "the result does not name the report"},
		"a refusal of another task's":      {func(r *record) { r.access[2].Details.Subject = "task_2" }, "no result was refused"},
		"somebody else who is no receiver": {func(r *record) { r.access[1].Agent = "three" }, "no agent has read"},
	} {
		t.Run(name, func(t *testing.T) {
			r := recordOfDemo(t)
			c.spoil(&r)
			if _, err := r.summary("m1", kept); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
