package mcpapi_test

import (
	"fmt"
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

// Who is named for a copy and cannot be reached is in the answer of the send, in the task and, where the parent has no owner, in its result, over each API. Who would
// stand in for a receiver gets no copy, and is not missed.
func TestWhoGetsNoCopyIsNamed(t *testing.T) {
	h := open(t)
	defer h.deliver()()
	coder, ann := h.agent(statelessVersion, "coder"), h.agent(statelessVersion, "ann")
	for name, readiness := range map[string]string{"ann": "ready", "bob": "offline", "cy": "ready", "dee": "offline"} {
		h.agent(statelessVersion, name).call("join", m{"readiness": readiness})
	}
	for name, spec := range map[string]client.AgentSpec{"ann": {Fallbacks: []string{"dee"}}, "cy": {ContextWindow: 40}} {
		if _, err := h.admin.RegisterAgent(t.Context(), name, spec); err != nil {
			t.Fatal(err)
		}
	}
	missed := func(where string, given any) {
		t.Helper()
		list, _ := given.(m)
		if len(list) != 2 || !strings.Contains(fmt.Sprint(list["bob"]), "offline") || !strings.Contains(fmt.Sprint(list["cy"]), "too small a token budget") {
			t.Errorf("%s: not reached are %v", where, given)
		}
	}
	fan := m{"intent": "Read this", "to": []string{"ann", "bob", "cy"}, "kind": "broadcast", "fan_out": true}
	text, sent := coder.call("send", fan)
	missed("the answer", sent["not_reached"])
	if !strings.Contains(text, "Not reached, and without a copy: bob: ") {
		t.Errorf("the answer: %s", text)
	}
	text, data := coder.call("status", m{"id": sent["task"]})
	missed("the task", data["task"].(m)["not_reached"])
	if !strings.Contains(text, "\nNot reached: bob: ") {
		t.Errorf("the task: %s", text)
	}
	_, box := ann.call("inbox", m{"wait": 45})
	id := box["items"].([]any)[0].(m)["id"].(string)
	ann.call("accept", m{"handoff": id})
	ann.call("complete", m{"task": strings.TrimSuffix(id, ".h1"), "text": "read"})
	got, err := h.admin.Task(t.Context(), sent["task"].(string))
	for err == nil && !got.State.Final() {
		got, err = h.admin.WaitTask(t.Context(), got.ID, got.Position, 30*time.Second)
	}
	if err != nil || len(got.NotReached) != 2 || got.Result == nil || !strings.HasPrefix(got.Result.Text, "1 result; not reached: bob ") {
		t.Errorf("the result: %+v, %v, %v", got.Result, got.NotReached, err)
	}
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

// What is missing is recorded with the tokens that were used, shows that the owner is alive, and is told to the next one, with the note.
func TestAReportOfAGapRenewsTheLeaseAndCountsTheTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		coder, reviewer := h.agent(statelessVersion, "coder"), h.agent(statelessVersion, "reviewer")
		_, sent := coder.call("send", m{"intent": "Review the parser", "to": "reviewer"})
		reviewer.call("accept", m{"handoff": sent["handoff"]})
		task := sent["task"].(string)
		before, err := h.admin.Task(t.Context(), task)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		text, _ := reviewer.call("progress", m{"task": task, "note": "half of it", "tokens": 1200, "gap": []any{"the grammar"}})
		after, err := h.admin.Task(t.Context(), task)
		if err != nil || !after.Lease.After(before.Lease) || after.Spent.Tokens != 1200 {
			t.Errorf("%q, but the lease was %s and is %s; tokens: %d, %v", text, before.Lease, after.Lease, after.Spent.Tokens, err)
		}
		if !strings.Contains(text, "your lease was renewed") {
			t.Errorf("the answer is %q", text)
		}
		tester := h.agent(statelessVersion, "tester")
		_, on := reviewer.call("send", m{"task": task, "to": "tester"})
		given, _ := tester.call("accept", m{"handoff": on["handoff"]})
		for _, want := range []string{"half of it", "the grammar"} {
			if !strings.Contains(given, want) {
				t.Errorf("the next receiver does not read %q:\n%s", want, given)
			}
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

// Who withdraws a handoff is told who owns the task, and what can be done with it now.
func TestWhoWithdrawsAHandoffIsToldWhoOwnsTheTask(t *testing.T) {
	h := open(t)
	coder := h.agent(statelessVersion, "coder")
	h.agent(statelessVersion, "reviewer")
	_, sent := coder.call("send", m{"intent": "Review the parser", "to": "reviewer"})
	text, _ := coder.call("cancel", m{"id": sent["handoff"], "why": "found it"})
	task := sent["task"].(string)
	if !strings.Contains(text, "nobody owns the task: send with task="+task+" hands it to another agent, cancel with id="+task+" ends it") {
		t.Errorf("a task that nobody owned: %s", text)
	}
	_, again := coder.call("send", m{"task": task, "to": "reviewer"})
	if again["stage"] != "offered" {
		t.Errorf("sent again: %v", again)
	}
	_, own := coder.call("send", m{"intent": "Write the parser"})
	_, sent = coder.call("send", m{"task": own["task"], "to": "reviewer"})
	if text, _ := coder.call("cancel", m{"id": sent["handoff"], "why": "found it"}); !strings.Contains(text, "you own the task: continue it") {
		t.Errorf("a task of its own: %s", text)
	}
	_, sent = coder.call("send", m{"task": own["task"], "to": "reviewer"})
	if text, _ := h.operator("olga").call("cancel", m{"id": sent["handoff"], "why": "not now"}); !strings.Contains(text, "coder owns the task and continues it") {
		t.Errorf("a task of another: %s", text)
	}
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
