package mcpapi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

func TestReadsAndRefusedAttemptsOverMCPAreRecorded(t *testing.T) {
	h := open(t)
	coder, reviewer, other := h.agent(statelessVersion, "coder"), h.agent(statelessVersion, "reviewer"), h.agent(statelessVersion, "other")
	reviewer.call("join", m{})
	_, sent := coder.call("send", m{"intent": "Review the parser", "to": "reviewer"})
	id := sent["task"].(string)
	reviewer.call("accept", m{"handoff": id + ".h1"})
	recorded := func(words ...string) (n int) {
		t.Helper()
		var record strings.Builder
		if err := h.admin.Export(t.Context(), client.ExportOptions{}, &record); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(record.String()) {
			if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
				n++
			}
		}
		return n
	}
	before := recorded("content-read", `"agent":"reviewer"`, id)
	reviewer.call("status", m{"id": id, "history": true})
	if after := recorded("content-read", `"agent":"reviewer"`, id); after <= before {
		t.Errorf("the reads of reviewer were %d, and are %d", before, after)
	}
	if _, _, refused := other.try("status", m{"id": id}); !refused {
		t.Error("another agent reads the task")
	}
	if n := recorded("attempt-refused", `"agent":"other"`, id); n != 1 {
		t.Errorf("the refusal is recorded %d times", n)
	}
}
