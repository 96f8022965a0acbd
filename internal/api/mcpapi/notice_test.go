package mcpapi_test

import (
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

func TestAWorkingAgentIsToldThatItsTaskIsCancelledOrTakenAway(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		coder, reviewer, helper := h.agent(version, "coder"), h.agent(version, "reviewer"), h.agent(version, "helper")
		for _, a := range []*agent{coder, reviewer, helper} {
			a.call("join", m{})
		}
		_, sent := coder.call("send", m{"intent": "Review the parser", "to": "reviewer"})
		_, got := reviewer.call("accept", m{"handoff": sent["handoff"]})
		if _, err := h.admin.Send(t.Context(), sent["task"].(string), client.SendInput{To: []string{"helper"}, Detail: "helper is idle"}); err != nil {
			t.Fatal(err)
		}
		helper.call("accept", m{"handoff": sent["task"].(string) + ".h2"})
		text, _, refused := reviewer.try("complete", m{"task": sent["task"], "text": "no bugs", "epoch": got["epoch"]})
		if !refused || !strings.Contains(text, "helper took it: by order of admin/local: helper is idle") || !strings.Contains(text, "stop working on it") {
			t.Errorf("a late result: %s", text)
		}
		text, box := reviewer.call("inbox", m{})
		if items := box["items"].([]any); len(items) != 1 || items[0].(m)["type"] != "taken" || !strings.Contains(text, "stop working on this task") || !strings.Contains(text, "helper is idle") {
			t.Errorf("what was taken: %s", text)
		}
		if _, box = reviewer.call("inbox", m{}); len(box["items"].([]any)) != 0 {
			t.Errorf("it is told again: %v", box)
		}

		if _, err := h.admin.Cancel(t.Context(), sent["task"].(string), client.CancelInput{Detail: "shipped"}); err != nil {
			t.Fatal(err)
		}
		text, _, refused = helper.try("progress", m{"task": sent["task"], "note": "half of it"})
		if !refused || !strings.Contains(text, "cancelled it: shipped") {
			t.Errorf("progress on a cancelled task: %s", text)
		}
		if text, _ = helper.call("inbox", m{}); !strings.Contains(text, "stop working on this task") {
			t.Errorf("what was cancelled: %s", text)
		}
		if text, _ = coder.call("inbox", m{}); !strings.Contains(text, "cancelled "+sent["task"].(string)) || strings.Contains(text, "stop working") {
			t.Errorf("the requester of what was cancelled: %s", text)
		}
	})
}

func TestARequesterIsToldOnceHowItsTaskEnded(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		coder, reviewer := h.agent(version, "coder"), h.agent(version, "reviewer")
		for _, a := range []*agent{coder, reviewer} {
			a.call("join", m{})
		}
		_, sent := coder.call("send", m{"intent": "Review the parser", "to": "reviewer"})
		reviewer.call("accept", m{"handoff": sent["handoff"]})
		reviewer.call("complete", m{"task": sent["task"], "text": "no bugs"})
		text, box := coder.call("inbox", m{"wait": 5})
		if items := box["items"].([]any); len(items) != 1 || items[0].(m)["type"] != "completed" || !strings.Contains(text, "status with its task shows the result") {
			t.Errorf("what was completed: %s", text)
		}
		if text, _ = coder.call("status", m{"id": sent["task"]}); !strings.Contains(text, "no bugs") {
			t.Errorf("the result: %s", text)
		}
		if _, box = coder.call("inbox", m{}); len(box["items"].([]any)) != 0 {
			t.Errorf("it is told again: %v", box)
		}

		_, sent = coder.call("send", m{"intent": "Review the lexer", "to": "reviewer"})
		reviewer.call("accept", m{"handoff": sent["handoff"]})
		reviewer.call("complete", m{"task": sent["task"], "text": "no bugs"})
		coder.call("status", m{"id": sent["task"], "wait": 5}) // it has waited, and been told
		if _, box = coder.call("inbox", m{}); len(box["items"].([]any)) != 0 {
			t.Errorf("an agent that waited for the result is told again: %v", box)
		}
	})
}

// Some clients show a model the structured content alone, others the text alone.
func TestAnItemSaysHowToAnswerItInBothForms(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		coder, reviewer := h.agent(version, "coder"), h.agent(version, "reviewer")
		for _, a := range []*agent{coder, reviewer} {
			a.call("join", m{})
		}
		_, sent := coder.call("send", m{"intent": "Review the parser", "to": "reviewer"})
		text, box := reviewer.call("inbox", m{})
		if do := box["items"].([]any)[0].(m)["do"]; do != "accept or reject" || !strings.Contains(text, "[accept or reject]") {
			t.Errorf("an offer: %v, %s", do, text)
		}
		reviewer.call("accept", m{"handoff": sent["handoff"]})
		_, asked := reviewer.call("ask", m{"task": sent["task"], "question": "Which parser?", "to": "coder"})
		text, box = coder.call("inbox", m{})
		if do := box["items"].([]any)[0].(m)["do"]; do != "decide: answer" || !strings.Contains(text, "[decide: answer]") || strings.Contains(box["next"].(string), "brackets") {
			t.Errorf("a question: %v, %s", box, text)
		}
		coder.call("decide", m{"id": asked["ticket"], "verdict": "answer", "text": "the new one"})
		text, box = reviewer.call("inbox", m{})
		if do, _ := box["items"].([]any)[0].(m)["do"].(string); !strings.Contains(do, "continue it") || !strings.Contains(text, "["+do+"]") {
			t.Errorf("an answer: %v, %s", box, text)
		}
	})
}

// Clients that work without a person refuse tools that destroy.
func TestAnAgentWorksWithoutToolsThatDestroy(t *testing.T) {
	list, err := open(t).agent(statelessVersion, "coder").ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range list.Tools {
		switch x.Name {
		case "join", "inbox", "accept", "reject", "progress", "ask", "status", "complete", "send", "escalate", "recall", "route", "conversation":
			if !x.Annotations.ReadOnlyHint && (x.Annotations.DestructiveHint == nil || *x.Annotations.DestructiveHint) {
				t.Errorf("%s is destructive", x.Name)
			}
		}
	}
}
