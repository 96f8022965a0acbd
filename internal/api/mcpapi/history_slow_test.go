//go:build slow && !race

package mcpapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

func TestALargeHistoryIsReadPageByPage(t *testing.T) {
	h := open(t)
	coder, reader := h.agent(statelessVersion, "coder"), h.agent(statelessVersion, "reader")
	reader.call("join", m{})
	sent, err := h.admin.CreateTask(t.Context(), client.CreateInput{Intent: "Write the parser", Send: &client.SendInput{To: []string{"coder"}}})
	if err != nil {
		t.Fatal(err)
	}
	coder.call("accept", m{"handoff": sent.Handoff})
	big := strings.Repeat("x", 700<<10)
	for i := range 13 { // more than an answer with the whole trail may have
		coder.call("send", m{"task": sent.Task, "to": "reader", "share_only": true, "data": big})
		for j := range 10 {
			coder.call("progress", m{"task": sent.Task, "note": fmt.Sprintf("note %d of it", 10*i+j)})
		}
	}
	if _, err := h.admin.Trail(t.Context(), sent.Task); !errors.Is(err, client.TooLarge) {
		t.Fatalf("the trail is not too large: %v", err)
	}
	earlier := regexp.MustCompile(`same call with before=(\d+) `)
	args, seen := m{"id": sent.Task, "history": true}, map[string]int{}
	for pages := 1; ; pages++ {
		text := coder.read("status", args)
		if len(text) > 64<<10 {
			t.Fatalf("a page has %d bytes", len(text))
		}
		for i := range 130 {
			seen[fmt.Sprintf("note %d of it", i)] += strings.Count(text, fmt.Sprintf("note %d of it", i))
		}
		next := earlier.FindStringSubmatch(text)
		if next == nil {
			if !strings.Contains(text, "task-created") || pages < 2 {
				t.Errorf("%d pages; the last:\n%s", pages, text)
			}
			break
		}
		if args["before"] = json.Number(next[1]); pages > 20 {
			t.Fatal("no end")
		}
	}
	for note, n := range seen {
		if n != 1 {
			t.Errorf("%q is there %d times", note, n)
		}
	}
}
