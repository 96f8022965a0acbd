package mcpapi_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/client"
)

type m = map[string]any

func eachVersion(t *testing.T, run func(t *testing.T, version string)) {
	for _, version := range []string{sessionVersion, statelessVersion} {
		t.Run(version, func(t *testing.T) { run(t, version) })
	}
}

func TestATaskGoesFromOneAgentToAnotherAndIsDone(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		coder, reviewer := h.agent(version, "coder"), h.agent(version, "reviewer", "review")
		for _, a := range []*agent{coder, reviewer} {
			a.call("join", m{})
		}
		_, sent := coder.call("send", m{
			"intent": "Review the parser", "to": "reviewer", "ask": "find bugs", "facts": []any{"it is recursive", m{"text": "it has no tests"}},
		})
		text, box := reviewer.call("inbox", m{"wait": 5})
		items := box["items"].([]any)
		if len(items) != 1 || !strings.Contains(text, "Review the parser") {
			t.Fatalf("the inbox has %s", text)
		}
		text, got := reviewer.call("accept", m{"handoff": items[0].(m)["id"]})
		for _, want := range []string{"Review the parser", "find bugs", "it is recursive", "it has no tests"} {
			if !strings.Contains(text, want) {
				t.Errorf("the context lacks %q: %s", want, text)
			}
		}
		reviewer.call("progress", m{"task": sent["task"], "note": "read half of it", "epoch": got["epoch"]})
		_, done := reviewer.call("complete", m{"task": sent["task"], "text": "two bugs"})
		if done["state"] != "completed" {
			t.Errorf("the task is %v", done["state"])
		}
		text, _ = coder.call("status", m{"id": sent["task"]})
		if !strings.Contains(text, "two bugs") {
			t.Errorf("the coder does not see the result: %s", text)
		}
	})
}

func TestAnAgentThatJoinsAChannelHearsOfWhatIsPublishedInIt(t *testing.T) {
	h := open(t)
	coder, reviewer := h.agent(statelessVersion, "coder"), h.agent(statelessVersion, "reviewer")
	if text, _, refused := reviewer.try("join", m{"channels": "news"}); !refused || !strings.Contains(text, "channel") {
		t.Errorf("a channel that is not there: %s", text)
	}
	if _, err := h.admin.CreateChannel(t.Context(), client.ChannelInput{Name: "news"}); err != nil {
		t.Fatal(err)
	}
	reviewer.call("join", m{"channels": "news"})
	reviewer.call("join", m{"channels": "news"})
	coder.call("send", m{"intent": "Read this", "channel": "news"})
	if _, box := reviewer.call("inbox", m{"wait": 1}); len(box["items"].([]any)) != 1 {
		t.Errorf("the subscriber's inbox: %v", box)
	}
}

func TestWhoAsksForATaskWhoseOwnerIsLostHasItAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // nobody delivers: with its owner lost, nobody else is asked first
		h := open(t)
		coder, reviewer := h.agent(statelessVersion, "coder"), h.agent(statelessVersion, "reviewer")
		reviewer.call("join", m{})
		_, sent := coder.call("send", m{"intent": "Review the parser", "to": "reviewer"})
		reviewer.call("accept", m{"handoff": sent["handoff"]})
		time.Sleep(40 * time.Minute)
		text, task := coder.call("accept", m{"takeover": sent["task"]})
		if task["owner"] != "coder" || !strings.Contains(text, "Review the parser") {
			t.Errorf("%v: %s", task, text)
		}
	})
}

func TestCopiesThatNobodyWaitsForAreHandedOff(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		coder := h.agent(version, "coder")
		for _, name := range []string{"ann", "bob"} {
			h.agent(version, name).call("join", m{})
		}
		fan := m{"intent": "Read this", "to": []string{"ann", "bob"}, "kind": "broadcast", "fan_out": true, "fan_in": "none", "key": "k"}
		for range 2 { // repeated, it is the same
			text, sent := coder.call("send", fan)
			if copies, _ := sent["children"].([]any); len(copies) != 2 || sent["state"] != "pending" || sent["owner"] != nil || !strings.Contains(text, "has a copy") {
				t.Errorf("%v: %s", sent, text)
			}
		}
	})
}

// A model that reads its inbox acts at once: the acknowledgment timeout runs, whether the call waits or not.
func TestAModelThatReadsItsInboxHasSeenItsOffers(t *testing.T) {
	h := open(t)
	coder, reviewer := h.agent(statelessVersion, "coder"), h.agent(statelessVersion, "reviewer")
	reviewer.call("join", m{})
	coder.call("send", m{"intent": "Review the parser", "to": "reviewer"})
	reviewer.call("inbox", m{})
	box, err := h.admin.Inbox(t.Context(), client.InboxOptions{Agent: "reviewer"})
	if err != nil || len(box.Items) != 1 || !box.Items[0].Seen {
		t.Errorf("the inbox has %+v, %v", box.Items, err)
	}
}
