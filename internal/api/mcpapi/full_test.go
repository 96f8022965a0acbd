package mcpapi_test

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/inprocess"
)

// full connects an agent that chose the set all.
func (h *harness) full(name string) *agent {
	h.t.Helper()
	a, err := h.at(statelessVersion, name, "tools=all")
	if err != nil {
		h.t.Fatal(err)
	}
	return a
}

// operator connects an operator that chose the set all.
func (h *harness) operator(name string) *agent {
	h.t.Helper()
	made, err := h.admin.CreateToken(h.t.Context(), client.TokenInput{Role: client.RoleOperator, Name: name})
	if err != nil {
		h.t.Fatal(err)
	}
	transport := &mcp.StreamableClientTransport{
		Endpoint: "http://localhost/mcp?tools=all", HTTPClient: &http.Client{Transport: bearer{made.Text, inprocess.Transport(h.api)}},
	}
	s, err := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil).Connect(h.t.Context(), transport, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = s.Close() })
	return &agent{s, h.t, name}
}

// refused makes a call that must be refused, with a word of the refusal. A refusal has its code as data.
func (a *agent) refused(tool string, args m, says string) {
	a.t.Helper()
	text, data, refused := a.try(tool, args)
	if !refused || !strings.Contains(text, says) || data["code"] == nil || data["message"] == nil {
		a.t.Errorf("%s %v: refused %t, %v: %s", tool, args, refused, data, text)
	}
}

func TestATaskIsCreatedWithAllItsSettings(t *testing.T) {
	h := open(t)
	coder := h.full("coder")
	h.agent(statelessVersion, "reviewer").call("join", m{})
	_, made := coder.call("send", m{
		"intent": "Write the parser", "to": "reviewer", "retries": 1, "return_home": true, "strategy": "full", "pins": "fact:f1",
		"permissions": []any{"read", "write"}, "budget_tokens": 5000, "budget_cost": 700, "format": "markdown", "max_bytes": 900,
		"offer_timeout": "20m", "ack_timeout": "30s", "lease": "2h", "limit_hops": 4, "limit_tasks": 5, "subject": "patient/4711", "route": []any{"reviewer", "coder"},
		"facts": []any{m{"text": "the grammar is in docs"}}, "notes": "ask me", "conversation_summary": "they agreed",
		"decisions": []any{m{"text": "use a table", "reasoning": "it is faster", "pinned": true, "importance": 0.9}},
		"steps":     []any{"read the grammar", m{"action": "ran the tests", "tool": "shell"}}, "expires_at": "2h",
	})
	id := made["task"].(string)
	got, err := h.admin.Task(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	want := client.Timeouts{Offer: client.Duration(20 * time.Minute), Ack: client.Duration(30 * time.Second), Lease: client.Duration(2 * time.Hour)}
	if got.Timeouts.Offer != want.Offer || got.Timeouts.Ack != want.Ack || got.Timeouts.Lease != want.Lease {
		t.Errorf("the timeouts are %+v", got.Timeouts)
	}
	if got.Budget.Tokens != 5000 || got.Budget.Cost != 700 || got.Limits.Hops != 4 || got.Limits.Tasks != 5 {
		t.Errorf("the budget is %+v, the limits are %+v", got.Budget, got.Limits)
	}
	if !slices.Equal(got.Permissions, []string{"read", "write"}) || got.Expected.Format != "markdown" || got.Expected.MaxBytes != 900 {
		t.Errorf("permissions %v, expected %+v", got.Permissions, got.Expected)
	}
	if got.Subject != "patient/4711" {
		t.Errorf("it is about %q", got.Subject)
	}
	if !slices.Equal(got.Route, []string{"reviewer", "coder"}) {
		t.Errorf("the route is %v", got.Route)
	}
	prompt := h.full("reviewer").read("accept", m{"handoff": made["handoff"]})
	for _, says := range []string{"use a table", "it is faster", "they agreed", "ask me", "ran the tests", "read the grammar"} {
		if !strings.Contains(prompt, says) {
			t.Errorf("the receiver does not read %q:\n%s", says, prompt)
		}
	}
}

func TestNoPermissionsAreNotAllPermissions(t *testing.T) {
	h := open(t)
	coder := h.full("coder")
	for given, want := range map[string][]string{"none": {}, "": nil} {
		_, made := coder.call("send", m{"intent": "Write the parser", "permissions": given})
		got, err := h.admin.Task(t.Context(), made["task"].(string))
		if err != nil || (got.Permissions == nil) != (want == nil) || len(got.Permissions) != 0 {
			t.Errorf("%q: %v, %v", given, got.Permissions, err)
		}
	}
	_, made := coder.call("send", m{"intent": "Write the parser", "permissions": []any{}}) // as models fill in what they omit
	if got, err := h.admin.Task(t.Context(), made["task"].(string)); err != nil || got.Permissions != nil {
		t.Errorf("an empty list: %v, %v", got.Permissions, err)
	}
}

// What a delegation says that a limit stops is read by the agent to which the task is replayed.
func TestADelegationThatALimitStopsIsReadAfterAReplay(t *testing.T) {
	h := open(t)
	coder, reviewer := h.full("coder"), h.full("reviewer")
	made, err := h.admin.CreateTask(t.Context(), client.CreateInput{Intent: "Write the parser", Limits: client.Limits{Hops: 1}, Send: &client.SendInput{To: []string{"coder"}}})
	if err != nil {
		t.Fatal(err)
	}
	coder.call("accept", m{"handoff": made.Handoff})
	if text, _ := coder.call("send", m{"task": made.Task, "to": "reviewer", "kind": "delegation", "ask": "Count the rules.", "facts": "there are two grammars"}); !strings.Contains(text, "parked") {
		t.Errorf("it is not stopped: %s", text)
	}
	on, err := h.admin.Replay(t.Context(), made.Task, client.ReplayInput{To: []string{"reviewer"}})
	if err != nil {
		t.Fatal(err)
	}
	prompt := reviewer.read("accept", m{"handoff": on.Handoff})
	for _, says := range []string{"Count the rules.", "there are two grammars"} {
		if !strings.Contains(prompt, says) {
			t.Errorf("the receiver does not read %q:\n%s", says, prompt)
		}
	}
}

func TestASenderIsToldHowCompleteTheContextIs(t *testing.T) {
	h := open(t)
	coder := h.full("coder")
	h.agent(statelessVersion, "reviewer").call("join", m{})
	_, item := coder.call("remember", m{"text": "the grammar is in docs", "scope": "workspace"})
	text, sent := coder.call("send", m{"intent": "Write the parser", "to": "reviewer", "budget": 4000, "memory": []any{item["id"], "mem_00000000000000000000000000"}})
	sealed, _ := sent["sealed"].(m)
	if sealed["completeness"] != 0.5 || !slices.Equal(sealed["references"].([]any), []any{item["id"]}) || sealed["version"] == nil {
		t.Errorf("with a reference that cannot be resolved: %v", sent)
	}
	if !strings.Contains(text, "completeness 50 % (mem_00000000000000000000000000: not found).") || !strings.Contains(text, "of its 4000") || sealed["tokens"] == nil || sealed["budget"] != 4000. {
		t.Errorf("the model reads %s, and %v", text, sealed)
	}
	_, free := coder.call("send", m{"intent": "Test the parser", "to": "reviewer"})
	if sealed, _ := free["sealed"].(m); sealed["tokens"] == nil || sealed["uncounted"] != nil {
		t.Errorf("of an envelope without a limit the model is told %v", sealed)
	}
	_, asked := coder.call("send", m{"intent": "May it be shipped?", "to": "human:operators"})
	if sealed, _ := asked["sealed"].(m); sealed["tokens"] != nil || sealed["uncounted"] == nil {
		t.Errorf("of an envelope for people the model is told %v", sealed)
	}
	for _, to := range []string{"reviewer", "human:operators"} {
		text, sent := coder.call("send", m{"intent": "Port the parser", "to": to, "memory": item["id"], "facts": []any{m{"id": "a", "text": "one"}, m{"text": "two", "supersedes": "a"}}})
		if sealed, _ := sent["sealed"].(m); sealed["completeness"] != 1. || strings.Contains(text, "completeness") || !strings.Contains(text, " Replaced by what you gave with it, and not given to the receiver: fact:a.") {
			t.Errorf("of a fact that is replaced where it is given, the model reads %s, and %v", text, sealed)
		}
	}
}

func TestTheDocumentOfAHandoffIsReadOverMCP(t *testing.T) {
	h := open(t)
	coder, reviewer := h.full("coder"), h.full("reviewer")
	reviewer.call("join", m{})
	_, sent := coder.call("send", m{"intent": "Write the parser", "to": "reviewer", "permissions": "read", "priority": "high", "facts": []any{"the grammar is in docs"}})
	reviewer.call("accept", m{"handoff": sent["handoff"]})
	reviewer.call("send", m{"task": sent["task"], "to": "coder", "detail": "you know the grammar"})
	past, _ := coder.call("status", m{"id": sent["handoff"], "document": true})
	for _, part := range []string{`"permissions":["read"]`, `"priority":"high"`, `"receiver":"reviewer"`, `"timeout_seconds":15`, "the grammar is in docs", "handoff-complete"} {
		if !strings.Contains(past, part) {
			t.Errorf("the document of a past handoff lacks %s: %s", part, past)
		}
	}
	if newest, _ := coder.call("status", m{"id": sent["task"], "document": true}); !strings.Contains(newest, "you know the grammar") {
		t.Errorf("the newest: %s", newest)
	}
	_, own := coder.call("send", m{"intent": "Test the parser"})
	if text, _ := coder.call("status", m{"id": own["task"], "document": true}); !strings.Contains(text, "no handoff yet") {
		t.Errorf("of a task that was never handed off: %s", text)
	}
	coder.refused("status", m{"id": sent["handoff"], "document": true, "history": true}, "omit history")
	coder.refused("status", m{"document": true}, "need the id")
}

func TestAReceiverIsCheckedBeforeATaskIsSent(t *testing.T) {
	h := open(t)
	coder, reviewer := h.full("coder"), h.full("reviewer")
	reviewer.call("join", m{"readiness": "draining"})
	coder.refused("send", m{"intent": "Write the parser", "to": "nobody"}, "nobody")
	coder.refused("send", m{"intent": "Write the parser", "to": "reviewer"}, "draining")
	coder.refused("send", m{"intent": "Write the parser", "capability": "parsing"}, "parsing")
	reviewer.call("join", m{"readiness": "ready"})
	if _, sent := coder.call("send", m{"intent": "Write the parser", "to": "reviewer"}); sent["state"] != "handing_off" {
		t.Errorf("to one that can take it: %v", sent)
	}
}

func TestAnOperatorTakesATaskOver(t *testing.T) {
	h := open(t)
	coder, tester := h.full("coder"), h.full("tester")
	coder.call("join", m{})
	tester.call("join", m{})
	olga := h.operator("olga")
	_, own := coder.call("send", m{"intent": "Write the parser"})
	olga.refused("accept", m{"takeover": own["task"], "to": "tester", "from": "lead"}, "does not own")
	if text := olga.read("accept", m{"takeover": own["task"], "to": "tester", "from": "coder", "detail": "it is stuck", "ask": "Write its tests"}); !strings.Contains(text, "taken from its owner") {
		t.Errorf("taken over: %s", text)
	}
	h.asks(own["task"], "Write its tests")
	if text, _ := tester.call("inbox", m{}); !strings.Contains(text, own["task"].(string)) {
		t.Errorf("the inbox says %s", text)
	}
	coder.refused("accept", m{"handoff": own["task"], "from": "coder"}, "takeover only")
	id := own["task"].(string)
	coder.refused("complete", m{"task": id, "text": "done"}, "only operators call it off")
	coder.refused("cancel", m{"id": id + ".h1", "why": "it is mine"}, "coder cannot call it off")
	tester.call("reject", m{"handoff": id, "reason": "not_capable", "detail": "no parsers"})
	if text, _ := olga.call("dead", m{"action": "list"}); !strings.Contains(text, id) || !strings.Contains(text, "no parsers") {
		t.Errorf("the operator is told: %s", text)
	}
	if text, _ := coder.call("inbox", m{}); !strings.Contains(text, "parked "+id) {
		t.Errorf("the owner is told: %s", text)
	}
}

func TestAnOperatorReadsTheDeadLettersAndGivesOneANewRoute(t *testing.T) {
	h := open(t)
	reviewer, tester := h.full("reviewer"), h.full("tester")
	tester.call("join", m{})
	olga := h.operator("olga")
	if text, _ := olga.call("dead", m{"action": "list"}); !strings.Contains(text, "No dead letters") {
		t.Errorf("none: %s", text)
	}
	_, parked := olga.call("send", m{"intent": "Test the parser", "to": "reviewer"})
	reviewer.call("reject", m{"handoff": parked["handoff"], "reason": "not_capable"})
	if text, data := olga.call("dead", m{"action": "list"}); !strings.Contains(text, parked["task"].(string)) || len(data["letters"].([]any)) != 1 {
		t.Errorf("one: %s, %v", text, data)
	}
	olga.refused("dead", m{"action": "replay"}, "needs task")
	olga.refused("dead", m{"action": "list", "why": "x"}, "omit them")
	olga.refused("dead", m{"action": "discard", "task": parked["task"]}, "needs why")
	if text, data := olga.call("dead", m{"action": "replay", "task": parked["task"], "route": "tester", "deadline": "2h", "cost": 900, "why": "tester can", "ask": "Test it twice", "questions": "none"}); data["state"] != "handing_off" {
		t.Errorf("revived: %s", text)
	}
	if got, err := h.admin.Task(t.Context(), parked["task"].(string)); err != nil || !slices.Equal(got.Route, []string{"tester"}) || got.Budget.Cost != 900 {
		t.Errorf("%v, %+v, %v", got.Route, got.Budget, err)
	}
	h.asks(parked["task"], "Test it twice")
}

// asks checks what the receiver of a task is asked.
func (h *harness) asks(task any, ask string) {
	h.t.Helper()
	if s, err := h.admin.Content(h.t.Context(), task.(string), client.ContentInput{Source: true}); err != nil || !strings.Contains(string(s.Envelope), `"ask":"`+ask+`"`) {
		h.t.Errorf("the receiver reads %s, %v", s.Envelope, err)
	}
}

func TestChannelsOverMCP(t *testing.T) {
	h := open(t)
	coder, tester := h.full("coder"), h.full("tester")
	coder.call("join", m{})
	tester.call("join", m{})
	if text, _ := coder.call("channel", m{}); !strings.Contains(text, "No channels") {
		t.Errorf("none: %s", text)
	}
	coder.call("channel", m{"action": "create", "name": "builds", "description": "broken builds"})
	coder.call("channel", m{"action": "describe", "name": "builds", "description": "builds that broke"})
	tester.call("channel", m{"action": "subscribe", "name": "builds"})
	if text, data := tester.call("channel", m{}); !strings.Contains(text, "builds that broke") || !strings.Contains(text, "subscribers: tester") || len(data["channels"].([]any)) != 1 {
		t.Errorf("listed: %s", text)
	}
	if text, _ := tester.call("channel", m{"action": "leave", "name": "builds"}); !strings.Contains(text, "subscribers: none") {
		t.Errorf("left: %s", text)
	}
	tester.refused("channel", m{"action": "subscribe"}, "needs name")
	tester.refused("channel", m{"action": "leave", "name": "builds", "description": "x"}, "omit it")
	tester.refused("channel", m{"name": "nobody"}, "nobody")
	coder.call("channel", m{"action": "remove", "name": "builds"})
}

func TestArtifactsOverMCP(t *testing.T) {
	h := open(t)
	coder := h.full("coder")
	text := strings.Repeat("Grüße ", 6000)
	_, put := coder.call("artifact", m{"text": text})
	var got strings.Builder
	for after := 0.0; ; {
		said, part := coder.call("artifact", m{"digest": put["digest"], "after": after})
		got.WriteString(part["text"].(string))
		next, more := part["next"].(float64)
		if !more {
			break
		}
		if after = next; !strings.Contains(said, "has more") {
			t.Errorf("it says %.100s", said)
		}
	}
	if got.String() != text {
		t.Errorf("it reads %d bytes of %d", got.Len(), len(text))
	}
	image, err := h.admin.PutArtifact(t.Context(), strings.NewReader("\x89PNG\xff\xfe"), "")
	if err != nil {
		t.Fatal(err)
	}
	h.operator("olga").refused("artifact", m{"digest": image.Digest}, "is no text")
	coder.refused("artifact", m{}, "needs either")
	coder.refused("artifact", m{"digest": "sha256:" + strings.Repeat("0", 64)}, "What to do")
}

func TestMemoryOverMCPInFull(t *testing.T) {
	h := open(t)
	coder := h.full("coder")
	_, item := coder.call("remember", m{"text": "the grammar is in docs", "conversation": "talk", "source_agent": "lead", "subject": "patient/4711"})
	id := item["id"]
	if got, err := h.admin.Memory(t.Context(), id.(string), client.MemoryReference{}); err != nil || got.Subject != "patient/4711" {
		t.Errorf("the item is about %q, %v", got.Subject, err)
	}
	coder.call("conversation", m{"id": "ward", "say": "I am tired", "subject": "patient/4711"})
	coder.refused("conversation", m{"id": "ward", "say": "so am I", "subject": "patient/4712"}, "is about patient/4711")
	coder.refused("conversation", m{"id": "ward", "subject": "patient/4711"}, "subject goes with it")
	coder.call("remember", m{"text": "the tests are slow"})
	coder.call("remember", m{"pin": id})
	coder.call("remember", m{"tag": id, "tags": []any{"grammar"}})
	coder.call("remember", m{"weigh": id, "importance": 0.7})
	coder.call("remember", m{"revise": id, "text": "the grammar is in spec", "expect": 1})
	coder.refused("remember", m{"revise": id, "text": "no", "expect": 1}, "version")
	for _, args := range []m{{"conversation": "talk"}, {"pinned": true}, {"tag": "grammar"}, {"since": "2020-01-01T00:00:00Z", "conversation": "talk"}} {
		if _, data := coder.call("recall", args); len(data["items"].([]any)) != 1 || data["items"].([]any)[0].(m)["id"] != id {
			t.Errorf("recall %v: %v", args, data)
		}
	}
	if _, data := coder.call("recall", m{"until": "2020-01-01T00:00:00Z"}); len(data["items"].([]any)) != 0 {
		t.Errorf("before it was written: %v", data)
	}
	text, data := coder.call("recall", m{"id": id, "versions": true})
	if len(data["versions"].([]any)) != 2 || !strings.Contains(text, "in docs") || !strings.Contains(text, "in spec") {
		t.Errorf("versions: %s", text)
	}
	if text, _ := coder.call("recall", m{"id": id, "version": 1}); !strings.Contains(text, "in docs") {
		t.Errorf("version 1: %s", text)
	}
	coder.refused("remember", m{"pin": id, "unpin": id}, "one change")
	coder.refused("remember", m{"pin": id, "text": "x"}, "takes no other argument")
	coder.refused("recall", m{"versions": true}, "id of one item")
	if _, page := coder.call("recall", m{"limit": 1}); page["next"] == nil {
		t.Errorf("a page of two: %v", page)
	}
	coder.call("conversation", m{"id": "talk", "say": "hello", "role": "user"})
	coder.call("conversation", m{"id": "talk", "say": "good day"})
	if text, _ := coder.call("conversation", m{"id": "talk", "condensed": true}); !strings.Contains(text, "hello") || !strings.Contains(text, "coder") {
		t.Errorf("condensed: %s", text)
	}
	if _, data := coder.call("conversation", m{"id": "talk", "before": 2}); len(data["turns"].([]any)) != 1 {
		t.Errorf("before 2: %v", data)
	}
	coder.refused("conversation", m{"id": "talk", "condensed": true, "say": "x"}, "one of the three")
}

func TestAnAgentIsManagedOverMCP(t *testing.T) {
	h := open(t)
	coder := h.full("coder")
	coder.call("join", m{})
	olga := h.operator("olga")
	coder.refused("agent", m{"agent": "coder", "action": "register", "capabilities": "go"}, "operator")
	olga.call("agent", m{"agent": "coder", "action": "register", "capabilities": []any{"go", "sql"}, "context_window": 32000, "max_tasks": 2, "presence_ttl": "1m30s"})
	olga.call("agent", m{"agent": "coder", "action": "register", "description": "writes code"})
	if text, _ := coder.call("agent", m{"agent": "coder"}); !strings.Contains(text, "coder (ready, holds 0 of 2); can: go, sql; context window 32000 tokens - `writes code`") {
		t.Errorf("it is %s", text)
	}
	olga.call("agent", m{"agent": "coder", "action": "register", "tokenizer": "o200k_base", "fallbacks": "olga", "escalation": "olga"})
	text, shown := coder.call("agent", m{"agent": "coder"})
	for name, want := range (m{"tokenizer": "o200k_base", "fallbacks": []any{"olga"}, "escalation": []any{"olga"}, "presence_ttl": "1m30s", "context_window": 32000., "max_tasks": 2.}) {
		if spec, _ := shown["spec"].(m); !reflect.DeepEqual(spec[name], want) {
			t.Errorf("%s is %v, not %v, in %v", name, spec[name], want, shown)
		}
	}
	if !strings.Contains(text, "\ntokenizer: o200k_base\nfallbacks: olga\nescalation: olga\npresence_ttl: 1m30s") {
		t.Errorf("and as text: %s", text)
	}
	coder.call("agent", m{"agent": "agent/coder", "action": "announce", "readiness": "busy"})
	coder.refused("agent", m{"agent": "coder", "action": "announce"}, "give both")
	if text, _ := olga.call("agent", m{"agent": "coder", "action": "shed"}); !strings.Contains(text, "Offers of coder that went to others: 0.") {
		t.Errorf("shed: %s", text)
	}
	text, data := olga.call("agent", m{"agent": "coder", "action": "register", "tokenizer": "bogus", "fallbacks": "nobody", "escalation": []any{"nobody", "olga-2"}})
	for _, want := range []string{`tokenizer "bogus" is not one of o200k_base and cl100k_base`, `fallback "nobody" is not registered`, `escalation target "nobody" is not registered`, `escalation target "olga-2"`} {
		if !strings.Contains(text, want) || !strings.Contains(fmt.Sprint(data["warnings"]), want) {
			t.Errorf("no warning %s: %s, %v", want, text, data["warnings"])
		}
	}
	olga.call("agent", m{"agent": "coder", "action": "reset"})
	coder.refused("agent", m{"agent": "coder", "keep": 3}, "omit it")
	coder.refused("agent", m{"agent": "coder", "action": "register"}, "needs what to set")
	olga.refused("send", m{"intent": "Write the parser", "to": "ghost"}, "agent agent=ghost action=register")
	olga.call("agent", m{"agent": "ghost", "action": "register"}) // as the hint says
	olga.call("agent", m{"agent": "coder", "action": "remove"})
	h.token("helper")
	_, offer := olga.call("send", m{"intent": "Write the parser", "to": "helper"})
	text, data = olga.call("agent", m{"agent": "helper", "action": "remove"})
	for _, want := range []string{"offers to helper are open (1)", "trapeze handoff withdraw " + offer["handoff"].(string)} {
		if !strings.Contains(text, want) || !strings.Contains(fmt.Sprint(data["warnings"]), want) {
			t.Errorf("remove says nothing of the open offer: %s, %v", text, data["warnings"])
		}
	}
}

func TestASentenceIsDoneOverMCP(t *testing.T) {
	h := open(t)
	coder := h.full("coder")
	h.agent(statelessVersion, "reviewer").call("join", m{})
	_, own := coder.call("send", m{"intent": "Write the parser"})
	text, first := coder.call("do", m{"text": "hand this off to reviewer"})
	if first["confirm"] == nil || !strings.Contains(text, "Nothing was changed yet") {
		t.Fatalf("understood: %s", text)
	}
	if got, err := h.admin.Task(t.Context(), own["task"].(string)); err != nil || got.State != client.Executing {
		t.Errorf("before it is confirmed it is %s, %v", got.State, err)
	}
	if text, done := coder.call("do", m{"text": "hand this off to reviewer", "confirm": first["confirm"]}); done["receipt"] == nil || !strings.Contains(text, "handing off") {
		t.Errorf("done: %s", text)
	}
	if text, _ := coder.call("do", m{"text": "show active handoffs"}); !strings.Contains(text, "to reviewer") {
		t.Errorf("active: %s", text)
	}
	coder.refused("do", m{"text": "make me a sandwich"}, "What to do")
}
