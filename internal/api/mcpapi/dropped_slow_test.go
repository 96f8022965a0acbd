//go:build slow

package mcpapi_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/inprocess"
)

// recordCall is the call of each API that a prompt names for what the record alone has.
var recordCall = map[client.Via]*regexp.Regexp{
	client.ViaMCP:  regexp.MustCompile(`(?m)^# Not here; the record has it \(status id=(\S+) history=true\)\nearlier progress notes ×5$`),
	client.ViaHTTP: regexp.MustCompile(`(?m)^# Not here; the record has it \(GET (\S+)\)\nearlier progress notes ×5$`),
}

// aBefore is how a page of the history names the one before it.
var aBefore = regexp.MustCompile(`before=(\d+)`)

func TestWhatTheRecordAloneHasIsReadByTheCallThatThePromptNames(t *testing.T) {
	h := open(t)
	coder, tiny := h.agent(statelessVersion, "coder"), h.agent(statelessVersion, "tiny")
	if _, err := h.admin.RegisterAgent(t.Context(), "tiny", client.AgentSpec{ContextWindow: 900}); err != nil {
		t.Fatal(err)
	}
	for _, a := range []*agent{coder, tiny} {
		a.call("join", m{})
	}
	content := long()
	content.Steps = append(content.Steps, client.Step{Action: "handed over to boss"})
	made, err := h.admin.CreateTask(t.Context(), client.CreateInput{Intent: "Fix it", Content: content, Send: &client.SendInput{To: []string{"coder"}}})
	if err != nil {
		t.Fatal(err)
	}
	if prompt := coder.read("accept", m{"handoff": made.Handoff}); !strings.Contains(prompt, ": handed over to boss\n") {
		t.Errorf("the words of a sender read as those of the server:\n%s", prompt)
	}
	for i := range 25 {
		coder.call("progress", m{"task": made.Task, "note": fmt.Sprintf("note%d.", i)})
	}
	_, sent := coder.call("send", m{"task": made.Task, "to": "tiny"})
	prompt := tiny.read("accept", m{"handoff": sent["handoff"]})
	named := recordCall[client.ViaMCP].FindStringSubmatch(prompt)
	if named == nil || strings.Contains(prompt, "note0.") {
		t.Fatalf("no call is named in\n%s", prompt)
	}
	text := tiny.read("status", m{"id": named[1], "history": true})
	for page := text; !strings.Contains(text, "note0."); text += page {
		before := aBefore.FindStringSubmatch(page)
		if before == nil {
			t.Fatalf("the call that is named gives\n%s", text)
		}
		page = tiny.read("status", m{"id": named[1], "history": true, "before": before[1]})
	}
	token := h.tokenAt("tiny", "")
	read, err := h.as(token).Content(t.Context(), made.Task, client.ContentInput{Render: true})
	if err != nil {
		t.Fatal(err)
	}
	named = recordCall[client.ViaHTTP].FindStringSubmatch(read.Prompt)
	if named == nil {
		t.Fatalf("no call is named in\n%s", read.Prompt)
	}
	way := http.Client{Transport: bearer{token, inprocess.Transport(h.api)}}
	r, err := way.Get("http://localhost" + named[1])
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if b, err := io.ReadAll(r.Body); err != nil || !strings.Contains(string(b), "note0.") {
		t.Errorf("%s gives %d %s, %v", named[1], r.StatusCode, b, err)
	}
}

// What a model gives with a cold handoff does not arrive: it is told so, and so is its receiver.
func TestAModelIsToldWhatAColdHandoffLeavesOut(t *testing.T) {
	h := open(t)
	coder, tester := h.agent(statelessVersion, "coder"), h.agent(statelessVersion, "tester")
	for _, a := range []*agent{coder, tester} {
		a.call("join", m{})
	}
	made, err := h.admin.CreateTask(t.Context(), client.CreateInput{Intent: "Fix it", Send: &client.SendInput{To: []string{"coder"}}})
	if err != nil {
		t.Fatal(err)
	}
	coder.read("accept", m{"handoff": made.Handoff})
	said, sent := coder.call("send", m{"task": made.Task, "to": "tester", "kind": "cold", "facts": []any{m{"text": "SECRET"}}, "decisions": []any{m{"text": "SECRET"}}})
	if !strings.Contains(said, "the receiver does not get what you gave with it (decisions ×1, facts ×1)") {
		t.Errorf("the sender is told %s", said)
	}
	if prompt := tester.read("accept", m{"handoff": sent["handoff"]}); !strings.Contains(prompt, "\n# Not here\nleft out by a cold handoff: facts ×1, decisions ×1\n") || strings.Contains(prompt, "SECRET") {
		t.Errorf("the receiver reads\n%s", prompt)
	}
}
