//go:build slow || outside

package scenario

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// spoil makes every text of a document hostile but those under names whose texts are words of a closed set, names and the like.
// Each is marked with the name that it stands under.
func spoil(v any, under string) any {
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v {
			v[name] = spoil(x, name)
		}
	case []any:
		for i, x := range v {
			v[i] = spoil(x, under)
		}
	case string:
		if !slices.Contains(spared, under) {
			return hostile(under)
		}
	}
	return v
}

// spared are the fields whose texts are not prose: another text would be refused.
var spared = strings.Fields(`task_id handoff_id from_agent to_agent source_agent target_agent timestamp event agent author priority read write depends_on
	permissions envelope_version deadline memory_refs memory_id customer currency version salt parent created_at expires_at from to kind time role
	id digest media_type supersedes origin dependencies format action reason`)

func TestHostileTextInEveryFieldOfAnImportedDocumentReachesTheReceiverAsData(t *testing.T) {
	for format, places := range map[string]string{
		"handoff-document": "handoff_reason ticket summary suspects",
		"handoff-context":  "original_task current_state conversation_summary key_facts decisions_made data",
		"memory-envelope":  "task_summary language security style",
		"envelope":         "detail notes intent state ask ticket conversation_summary text open_questions criteria name",
	} {
		raw, err := os.ReadFile("../content/foreign/testdata/" + format + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var doc map[string]any
		if err := json.Unmarshal(raw, &doc); err != nil {
			t.Fatal(err)
		}
		spoil(doc, "")
		if data, is := doc["collected_data"].(map[string]any); is {
			data[hostile("key")] = hostile("data")
		}
		raw, err = json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		raw = bytes.ReplaceAll(raw, []byte("sha256:"+strings.Repeat("2", 64)), []byte(artifact.DigestOf([]byte("content"))))
		t.Run(format, func(t *testing.T) {
			story(t, func(h *harness) {
				h.join("ann")
				h.register("bob", agents.AgentSpec{ContextWindow: 100_000})
				h.file("ann", "content")
				got := h.importing(h.agent("ann"), tasks.ImportInput{Document: raw, To: []string{"bob"}})
				for _, n := range got.Notes {
					if strings.ContainsFunc(n.Field+n.Text, func(r rune) bool { return !unicode.IsPrint(r) }) {
						h.Errorf("a note passes more on than a line: %q", n)
					}
				}
				accepted := h.acceptPrompt("bob")
				packed(h, *accepted.Content)
				onlyData(h, accepted.Content.Prompt, strings.Fields(places)...)
			})
		})
	}
}
