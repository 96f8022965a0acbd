package mcpapi_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/client"
)

type m = map[string]any

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

// A parent hears of a child when it ends. Its status shows what the child does until then, and what it waits for.
func TestTheLineOfAChildShowsItsOwnStateAndItsOpenTicket(t *testing.T) {
	h := open(t)
	defer h.deliver()()
	coder, reviewer := h.agent(statelessVersion, "coder"), h.agent(statelessVersion, "reviewer")
	h.agent(statelessVersion, "boss")
	_, own := coder.call("send", m{"intent": "Ship it"})
	_, sent := coder.call("send", m{"task": own["task"], "to": "reviewer", "kind": "delegation", "ask": "review it"})
	child := sent["children"].([]any)[0].(string)
	_, box := reviewer.call("inbox", m{"wait": 45})
	reviewer.call("accept", m{"handoff": box["items"].([]any)[0].(m)["id"]})
	if text, _ := coder.call("status", m{"id": own["task"]}); !strings.Contains(text, "Child "+child+" for reviewer is executing") {
		t.Errorf("it works: %s", text)
	}
	reviewer.call("ask", m{"task": child, "question": "Which branch?", "to": "boss"})
	text, data := coder.call("status", m{"id": own["task"]})
	line := data["task"].(m)["children"].([]any)[0].(m)
	if !strings.Contains(text, "is waiting, ticket "+child+".k1 is open: `Which branch?`") || line["ticket"] != child+".k1" {
		t.Errorf("it asks: %s\n%v", text, line)
	}
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

// A task that was created and sent in one call belongs to nobody. Rejected, it returns to its requester, who sends it again.
func TestATaskThatWasSentAtOnceAndRejectedReturnsToItsRequester(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		coder, reviewer := h.agent(version, "coder"), h.agent(version, "reviewer")
		h.agent(version, "tester")
		_, sent := coder.call("send", m{"intent": "Review the parser", "to": "reviewer"})
		reviewer.call("reject", m{"handoff": sent["handoff"], "reason": "not_capable", "detail": "no Rust"})
		text, box := coder.call("inbox", m{})
		items := box["items"].([]any)
		if len(items) != 1 || items[0].(m)["type"] != "returned" || items[0].(m)["task"] != sent["task"] || !strings.Contains(text, "no Rust") {
			t.Fatalf("the requester's inbox has %s", text)
		}
		_, again := coder.call("send", m{"task": sent["task"], "to": "tester"})
		if again["stage"] != "offered" {
			t.Errorf("sent again: %v", again)
		}
		if text, box := coder.call("inbox", m{}); len(box["items"].([]any)) != 0 {
			t.Errorf("after that the inbox has %s", text)
		}
	})
}

func TestAHandoffNamesItsTaskAndAPrincipalItsAgent(t *testing.T) {
	h := open(t)
	coder, reviewer := h.agent(statelessVersion, "coder"), h.agent(statelessVersion, "reviewer")
	_, sent := coder.call("send", m{"intent": "Review the parser", "to": []any{"agent/reviewer", "agent/coder"}})
	if to := sent["to"].([]any); len(to) != 1 || to[0] != "reviewer" {
		t.Errorf("sent to %v", to)
	}
	if text, _, refused := reviewer.try("accept", m{"handoff": "task_unknown"}); !refused {
		t.Errorf("a task that is not there: %s", text)
	}
	reviewer.call("accept", m{"handoff": sent["task"]})
	if _, got := reviewer.call("progress", m{"task": sent["handoff"], "note": "half of it"}); got["task"] != sent["task"] {
		t.Errorf("reported on %v", got)
	}
	if _, got := reviewer.call("send", m{"task": sent["handoff"], "to": "agent/coder"}); got["to"].([]any)[0] != "coder" {
		t.Errorf("sent back to %v", got)
	}
}

func TestListsMayBeWrittenAsText(t *testing.T) {
	h := open(t)
	coder, reviewer := h.agent(statelessVersion, "coder"), h.agent(statelessVersion, "reviewer")
	_, sent := coder.call("send", m{
		"intent": "Review the parser", "to": `["agent/reviewer"]`, "facts": `["it is recursive", "it is slow"]`, "questions": "[]",
		"attach": `[{"name": "orders.csv", "text": "order,amount"}]`, "constraints": `["never push to main"]`,
	})
	text, _ := reviewer.call("accept", m{"handoff": sent["handoff"]})
	for _, want := range []string{"f1 it is recursive\n", "f2 it is slow\n", "orders.csv", " never push to main\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the receiver is not shown %q:\n%s", want, text)
		}
	}
}

func TestADeadlineMayBeATimeFromNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		coder := h.agent(statelessVersion, "coder")
		if text, _, refused := coder.try("send", m{"intent": "Review the parser", "deadline": "2h", "key": "once"}); !refused || !strings.Contains(text, "repeated") {
			t.Errorf("with a key: %s", text)
		}
		_, sent := coder.call("send", m{"intent": "Review the parser", "deadline": "2h"})
		got, err := h.admin.Task(t.Context(), sent["task"].(string))
		if err != nil || time.Until(got.Deadline).Round(time.Minute) != 2*time.Hour {
			t.Errorf("due %s, %v", got.Deadline, err)
		}
		h.ahead.Store(int64(30 * 24 * time.Hour)) // the clock of the server, by which deadlines end
		_, sent = coder.call("send", m{"intent": "Review the parser", "deadline": "2h"})
		got, err = h.admin.Task(t.Context(), sent["task"].(string))
		if err != nil || got.Deadline.Sub(got.Created).Round(time.Minute) != 2*time.Hour {
			t.Errorf("created %s, due %s, %v", got.Created, got.Deadline, err)
		}
	})
}

// An offer is previewed before it is accepted: the same context, and the task stays where it is.
func TestAnOfferIsPreviewedOverMCP(t *testing.T) {
	h := open(t)
	coder, reviewer, tester := h.agent(statelessVersion, "coder"), h.agent(statelessVersion, "reviewer"), h.agent(statelessVersion, "tester")
	_, sent := coder.call("send", m{"intent": "Review the parser", "to": "reviewer", "facts": []any{"the grammar is LL(1)"}})
	for _, id := range []any{sent["handoff"], sent["task"]} {
		text, _ := reviewer.call("status", m{"id": id, "preview": true})
		if !strings.Contains(text, "the grammar is LL(1)") || !strings.HasPrefix(text, "# Preview of task `"+sent["task"].(string)+"` (handoff `h1`) from `coder`") {
			t.Errorf("the preview of %s: %s", id, text)
		}
	}
	if got, err := h.admin.Task(t.Context(), sent["task"].(string)); err != nil || got.Owner != "" || got.State != client.HandingOff {
		t.Errorf("after the preview: %+v, %v", got, err)
	}
	tester.refused("status", m{"id": sent["handoff"], "preview": true}, "not_found")
	reviewer.refused("status", m{"id": sent["handoff"], "preview": true, "wait": 5}, "question of its own")
	reviewer.refused("status", m{"preview": true}, "need the id")
	context, _ := reviewer.call("accept", m{"handoff": sent["handoff"]})
	if !strings.Contains(context, "the grammar is LL(1)") {
		t.Errorf("accepted: %s", context)
	}
}

func TestATakeoverOfATaskThatNobodyOwnsNamesItsRequester(t *testing.T) {
	h := open(t)
	coder := h.agent(statelessVersion, "coder")
	made, err := h.as(h.token("lead")).CreateTask(t.Context(), client.CreateInput{Intent: "Write the parser", Send: &client.SendInput{To: []string{"coder"}}})
	if err != nil {
		t.Fatal(err)
	}
	text := coder.read("accept", m{"takeover": made.Task})
	if !strings.Contains(text, "The requester was asked.") || !strings.Contains(text, "if the requester agrees") || strings.Contains(text, "owner") {
		t.Errorf("it was answered %q", text)
	}
}
