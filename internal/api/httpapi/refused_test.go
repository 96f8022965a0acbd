package httpapi_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// refused is a call and what must be said to it. In line and body TASK, HANDOFF and EPOCH stand for a task that writer
// owns, its handoff and its epoch; OTHER for a task that only planner has a part in.
type refused struct {
	name, as, line, body string
	code                 refusal.Code
	says                 string // in the message
}

const nobody = "task_00000000000000000000000000"

var badInput = []refused{
	{"an id that is none", "writer", "GET /v1/tasks/42", "", refusal.Invalid, "not a task id"},
	{"an id of nothing", "writer", "GET /v1/tasks/" + nobody, "", refusal.NotFound, "no task"},
	{"path parts in an id", "writer", "GET /v1/tasks/..%2F..%2Fetc", "", refusal.Invalid, "not a task id"},
	{"control characters in an id", "writer", "GET /v1/tasks/task_%00%0a", "", refusal.Invalid, "not a task id"},
	{"an endless id", "writer", "GET /v1/tasks/" + strings.Repeat("a", 5000), "", refusal.Invalid, "id"},
	{"another's task", "writer", "GET /v1/tasks/OTHER", "", refusal.NotFound, "no task"},
	{"another's trail", "writer", "GET /v1/tasks/OTHER/trail", "", refusal.NotFound, "no task"},
	{"another's content", "writer", "GET /v1/tasks/OTHER/content", "", refusal.NotFound, "no task"},
	{"working on another's task", "writer", "POST /v1/tasks/OTHER/progress", `{"epoch":1,"note":"x"}`, refusal.NotFound, "no task"},
	{"exporting another's task", "writer", "GET /v1/audit/export?task=OTHER", "", refusal.NotFound, "no task"},
	{"exporting everything", "writer", "GET /v1/audit/export", "", refusal.NotPermitted, "export the whole record"},
	{"an unknown format", "admin", "GET /v1/audit/export?format=xml", "", refusal.Invalid, "not a format"},
	{"everything as one document", "admin", "GET /v1/audit/export?format=json", "", refusal.Invalid, "not one JSON document"},
	{"a handoff of nothing", "writer", "GET /v1/handoffs/" + nobody + ".h1", "", refusal.NotFound, "no task"},
	{"a handoff that never was", "writer", "GET /v1/handoffs/TASK.h9", "", refusal.NotFound, "no handoff 9"},
	{"a handoff with a task's id", "writer", "POST /v1/handoffs/TASK/withdraw", "", refusal.Invalid, "not a handoff id"},
	{"a task with a handoff's id", "writer", "POST /v1/tasks/HANDOFF/cancel", "", refusal.Invalid, "not a task id"},
	{"a share that never was", "writer", "GET /v1/shares/TASK.s1/content", "", refusal.NotFound, "nothing is shared"},
	{"an ask that never was", "writer", "POST /v1/asks/TASK.t1/approve", `{"epoch":EPOCH}`, refusal.NotFound, ""},
	{"an ask with a handoff's id", "writer", "POST /v1/asks/HANDOFF/deny", "", refusal.Invalid, "not the id of a takeover request"},

	{"a wrong epoch", "writer", "POST /v1/tasks/TASK/complete", `{"epoch":77}`, refusal.StaleEpoch, "77"},
	{"no epoch", "writer", "POST /v1/tasks/TASK/complete", `{}`, refusal.Invalid, "epoch"},
	{"a negative epoch", "writer", "POST /v1/tasks/TASK/complete", `{"epoch":-1}`, refusal.Invalid, "epoch"},
	{"an epoch beyond numbers", "writer", "POST /v1/tasks/TASK/complete", `{"epoch":1e30}`, refusal.Invalid, "epoch"},
	{"a broken epoch", "writer", "POST /v1/tasks/TASK/complete", `{"epoch":1.5}`, refusal.Invalid, "epoch"},
	{"a wrong owner", "planner", "POST /v1/tasks/TASK/complete", `{"epoch":EPOCH}`, refusal.NotOwner, "planner does not own"},
	{"accepting again", "writer", "POST /v1/handoffs/HANDOFF/accept", `{}`, refusal.Expired, "writer owns task"},
	{"accepting as an admin", "admin", "POST /v1/handoffs/HANDOFF/accept", `{}`, refusal.NotPermitted, "not an agent"},
	{"rejecting without a reason", "writer", "POST /v1/handoffs/HANDOFF/reject", `{"detail":"no"}`, refusal.Invalid, "reason"},
	{"rejecting for an unknown reason", "writer", "POST /v1/handoffs/HANDOFF/reject", `{"reason":"lazy"}`, refusal.Invalid, "not_capable"},

	{"no body", "planner", "POST /v1/tasks", "", refusal.Invalid, "body is required"},
	{"half a body", "planner", "POST /v1/tasks", `{"intent":`, refusal.Invalid, "unexpected end"},
	{"two bodies", "planner", "POST /v1/tasks", `{"intent":"x"}{}`, refusal.Invalid, "after top-level value"},
	{"a field twice", "planner", "POST /v1/tasks", `{"intent":"x","intent":"y"}`, refusal.Invalid, `"intent" twice`},
	{"an unknown field behind a field twice", "planner", "POST /v1/tasks", `{"intent":"x","content":{"bogus":1},"content":{"ask":"y"}}`, refusal.Invalid, `"content" twice`},
	{"a field twice, once escaped", "planner", "POST /v1/tasks", `{"intent":"x","\u0069ntent":"y"}`, refusal.Invalid, `"intent" twice`},
	{"a field twice in history from elsewhere", "planner", "POST /v1/tasks", `{"intent":"x","claimed_history":[{"a":[],"b":"a","a":2}]}`, refusal.Invalid, `"a" twice`},
	{"a parameter that is malformed", "planner", "GET /v1/tasks?live=true&owner=%zz", "", refusal.Invalid, "malformed"},
	{"parameters parted by semicolons", "planner", "GET /v1/tasks?live=true;owner=writer", "", refusal.Invalid, "malformed"},
	{"a body that is a list", "planner", "POST /v1/tasks", `[]`, refusal.Invalid, "object"},
	{"a body that is null", "planner", "POST /v1/tasks", `null`, refusal.Invalid, "object"},
	{"an unknown field", "planner", "POST /v1/tasks", `{"intent":"x","colour":"red"}`, refusal.Invalid, "colour: is not a field"},
	{"an unknown field further in", "planner", "POST /v1/tasks", `{"intent":"x","send":{"too":["writer"]}}`, refusal.Invalid, "send.too: is not a field"},
	{"a field in other letters", "planner", "POST /v1/tasks", `{"Intent":"x"}`, refusal.Invalid, "Intent: is not a field"},
	{"the path's field in the body", "writer", "POST /v1/tasks/TASK/send", `{"task":"OTHER","to":["planner"]}`, refusal.Invalid, "task: is not a field"},
	{"a number for text", "planner", "POST /v1/tasks", `{"intent":5}`, refusal.Invalid, "intent: expected string"},
	{"no intent", "planner", "POST /v1/tasks", `{"intent":""}`, refusal.Invalid, "intent"},
	{"only spaces", "planner", "POST /v1/tasks", `{"intent":" \n "}`, refusal.Invalid, "intent"},
	{"an unknown priority", "planner", "POST /v1/tasks", `{"intent":"x","priority":"now"}`, refusal.Invalid, "low, normal, high, urgent"},
	{"an unknown kind", "planner", "POST /v1/tasks", `{"intent":"x","send":{"to":["writer"],"kind":"hot"}}`, refusal.Invalid, "send.kind"},
	{"an unknown kind of constraint", "planner", "POST /v1/tasks", `{"intent":"x","constraints":[{"id":"a","kind":"law","text":"t"}]}`, refusal.Invalid, "constraints[0].kind"},
	{"a negative duration", "planner", "POST /v1/tasks", `{"intent":"x","timeouts":{"ack":"-1s"}}`, refusal.Invalid, "out of range"},
	{"an absurd duration", "planner", "POST /v1/tasks", `{"intent":"x","timeouts":{"lease":"99999h"}}`, refusal.Invalid, "out of range"},
	{"a duration beyond numbers", "planner", "POST /v1/tasks", `{"intent":"x","timeouts":{"lease":"99999999999h"}}`, refusal.Invalid, "not a duration"},
	{"a duration that is none", "planner", "POST /v1/tasks", `{"intent":"x","timeouts":{"lease":"soon"}}`, refusal.Invalid, "timeouts.lease: expected string to be a duration"},
	{"a duration as a number", "planner", "POST /v1/tasks", `{"intent":"x","timeouts":{"lease":30}}`, refusal.Invalid, "timeouts.lease"},
	{"a negative limit", "planner", "POST /v1/tasks", `{"intent":"x","limits":{"hops":-3}}`, refusal.Invalid, "out of range"},
	{"a negative budget", "planner", "POST /v1/tasks", `{"intent":"x","budget":{"tokens":-3}}`, refusal.Invalid, "out of range"},
	{"a moment that is none", "planner", "POST /v1/tasks", `{"intent":"x","deadline":"tomorrow"}`, refusal.Invalid, "deadline"},
	{"a deadline that has passed", "planner", "POST /v1/tasks", `{"intent":"x","deadline":"2001-01-01T00:00:00Z"}`, refusal.Invalid, "deadline"},
	{"too deep a body", "planner", "POST /v1/tasks", `{"intent":"x","content":{"data":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}}`, refusal.Invalid, "deep"},
	{"deep data", "planner", "POST /v1/tasks", `{"intent":"x","content":{"data":` + strings.Repeat("[", 66) + strings.Repeat("]", 66) + `}}`, refusal.Invalid, "deep"},
	{"text that is not UTF-8", "planner", "POST /v1/tasks", "{\"intent\":\"\xff\xfe\"}", refusal.Invalid, "UTF-8"},
	{"an agent that is not there", "planner", "POST /v1/tasks", `{"intent":"x","send":{"to":["wirter"]}}`, refusal.NotFound, "wirter"},
	{"a dependency that is not there", "planner", "POST /v1/tasks", `{"intent":"x","dependencies":["` + nobody + `"]}`, refusal.NotFound, "no task"},
	{"an intent that is too long", "planner", "POST /v1/tasks", `{"intent":"` + strings.Repeat("x", 70_000) + `"}`, refusal.TooLarge, "70000"},
	{"a body that is too long", "planner", "POST /v1/tasks", `{"intent":"` + strings.Repeat("x", httpapi.DefaultMaxBody) + `"}`, refusal.TooLarge, "too large"},

	{"a name with path parts", "admin", "PUT /v1/agents/..%2Fx", `{}`, refusal.Invalid, "the agent's name"},
	{"a name with control characters", "admin", "PUT /v1/agents/a%0Ab", `{}`, refusal.Invalid, "the agent's name"},
	{"a name with a bidirectional override", "admin", "PUT /v1/agents/a%E2%80%AEb", `{}`, refusal.Invalid, "the agent's name"},
	{"a name that is too long", "admin", "PUT /v1/agents/" + strings.Repeat("a", 65), `{}`, refusal.Invalid, "65 bytes"},
	{"a name that is not UTF-8", "admin", "PUT /v1/agents/a%FFb", `{}`, refusal.Invalid, "the agent's name"},
	{"a negative capacity", "admin", "PUT /v1/agents/x", `{"max_tasks":-1}`, refusal.Invalid, "max_tasks"},
	{"an unknown reach", "admin", "PUT /v1/agents/x", `{"reach":[{"kind":"pigeon"}]}`, refusal.Invalid, "reach[0].kind"},
	{"a webhook without an address", "admin", "PUT /v1/agents/x", `{"reach":[{"kind":"webhook"}]}`, refusal.Invalid, ""},
	{"a way without delivery", "admin", "PUT /v1/agents/x", `{"reach":[{"kind":"webhook","url":"https://example.com/hook"}]}`, refusal.Invalid, "not delivered by webhook"},
	{"an unknown readiness", "writer", "PUT /v1/agents/writer/readiness", `{"readiness":"asleep"}`, refusal.Invalid, "ready, busy, draining, offline"},
	{"another's readiness", "writer", "PUT /v1/agents/planner/readiness", `{"readiness":"offline"}`, refusal.NotPermitted, ""},
	{"an agent that is not there", "admin", "GET /v1/agents/ghost", "", refusal.NotFound, "ghost"},
	{"removing an agent as an agent", "writer", "DELETE /v1/agents/planner", "", refusal.NotPermitted, "remove an agent"},
	{"a presence without an agent", "admin", "POST /v1/presence", "", refusal.Invalid, "only agents"},

	{"a channel that is not there", "writer", "GET /v1/channels/news", "", refusal.NotFound, "no channel news"},
	{"subscribing to a channel that is not there", "writer", "POST /v1/channels/news/subscribe", "", refusal.NotFound, "no channel news"},
	{"subscribing an agent that is not there", "admin", "POST /v1/channels/news/subscribe", `{"agent":"ghost"}`, refusal.NotFound, "ghost"},
	{"a channel without a name", "writer", "POST /v1/channels", `{}`, refusal.Invalid, "name"},
	{"a channel with path parts", "writer", "POST /v1/channels", `{"name":"../x"}`, refusal.Invalid, "channel"},
	{"a channel with control characters", "writer", "DELETE /v1/channels/a%0Ab", "", refusal.Invalid, "channel"},
	{"a channel with a cursor that is none", "writer", "GET /v1/channels?after=A%20B", "", refusal.Invalid, "channel"},
	{"publishing to a channel that is not there", "planner", "POST /v1/tasks", `{"intent":"x","send":{"channel":"news"}}`, refusal.NotFound, "no channel news"},
	{"publishing to a channel and an agent", "planner", "POST /v1/tasks", `{"intent":"x","send":{"channel":"news","to":["writer"]}}`, refusal.Invalid, "names the receivers"},
	{"publishing to a channel by another kind", "planner", "POST /v1/tasks", `{"intent":"x","send":{"channel":"news","kind":"warm"}}`, refusal.Invalid, "warm"},
	{"a channel's name in the body", "writer", "POST /v1/channels/news/subscribe", `{"channel":"olds"}`, refusal.Invalid, "channel: is not a field"},

	{"a memory item that is not there", "writer", "GET /v1/memory/mem_0", "", refusal.NotFound, "no memory item"},
	{"a memory item with path parts", "writer", "GET /v1/memory/..%2Fx", "", refusal.Invalid, "memory id"},
	{"a memory item with control characters", "writer", "POST /v1/memory/a%0Ab/forget", "", refusal.Invalid, "memory id"},
	{"half a reference", "writer", "GET /v1/memory/mem_0?digest=sha256:0", "", refusal.Invalid, "reference"},
	{"a version of nothing", "writer", "GET /v1/memory/mem_0?version=0", "", refusal.Invalid, "version"},
	{"nothing to remember", "writer", "POST /v1/memory", `{"text":" "}`, refusal.Invalid, "empty"},
	{"no text to remember", "writer", "POST /v1/memory", `{"title":"x"}`, refusal.Invalid, "text"},
	{"too much to remember", "writer", "POST /v1/memory", `{"text":"` + strings.Repeat("x", 256<<10+1) + `"}`, refusal.TooLarge, "262145"},
	{"a title of two lines", "writer", "POST /v1/memory", `{"text":"x","title":"a\nb"}`, refusal.Invalid, "control character"},
	{"a title that is turned around", "writer", "POST /v1/memory", `{"text":"x","title":"a\u202eb"}`, refusal.Invalid, "control character"},
	{"an unknown scope", "writer", "POST /v1/memory", `{"text":"x","scope":"world"}`, refusal.Invalid, "scope"},
	{"a scope without its task", "writer", "POST /v1/memory", `{"text":"x","scope":"task"}`, refusal.Invalid, "names no task"},
	{"a memory item in another's task", "writer", "POST /v1/memory", `{"text":"x","scope":"task","task":"OTHER"}`, refusal.NotFound, "no task"},
	{"a tag that is none", "writer", "POST /v1/memory", `{"text":"x","tags":["A B"]}`, refusal.Invalid, "tag"},
	{"more than vital", "writer", "POST /v1/memory", `{"text":"x","importance":2}`, refusal.Invalid, "importance"},
	{"an author in the body", "writer", "POST /v1/memory", `{"text":"x","author":"agent/planner"}`, refusal.Invalid, "author: is not a field"},
	{"revising nothing", "writer", "POST /v1/memory/mem_0/revise", `{"text":"x"}`, refusal.NotFound, "no item"},
	{"an item's id in the body", "writer", "POST /v1/memory/mem_0/revise", `{"text":"x","id":"mem_1"}`, refusal.Invalid, "id: is not a field"},
	{"a search in an unknown scope", "writer", "GET /v1/memory?scope=world", "", refusal.Invalid, "scope"},
	{"a search without end", "writer", "GET /v1/memory?q=" + strings.Repeat("x", 2001), "", refusal.Invalid, "q"},
	{"a search since sometime", "writer", "GET /v1/memory?since=yesterday", "", refusal.Invalid, "since"},
	{"a page of what is ranked", "writer", "GET /v1/memory?q=x&after=3", "", refusal.Invalid, "one page"},
	{"a turn of no role", "writer", "POST /v1/conversations/c/turns", `{"text":"x"}`, refusal.Invalid, "role"},
	{"a turn of an unknown role", "writer", "POST /v1/conversations/c/turns", `{"text":"x","role":"boss"}`, refusal.Invalid, "role"},
	{"a turn in another's name", "writer", "POST /v1/conversations/c/turns", `{"text":"x","role":"user","agent":"planner"}`, refusal.NotPermitted, "may not speak"},
	{"a turn of another's task", "writer", "POST /v1/conversations/c/turns", `{"text":"x","role":"user","task":"OTHER"}`, refusal.NotFound, "no task"},
	{"a turn that is too long", "writer", "POST /v1/conversations/c/turns", `{"role":"user","text":"` + strings.Repeat("x", 64<<10+1) + `"}`, refusal.TooLarge, "65537"},
	{"a conversation with path parts", "writer", "POST /v1/conversations/..%2Fc/turns", `{"text":"x","role":"user"}`, refusal.Invalid, "conversation"},
	{"a conversation that has not begun", "writer", "GET /v1/conversations/c", "", refusal.NotFound, "no part"},
	{"continuity of nothing", "writer", "GET /v1/conversations/c/continuity", "", refusal.NotFound, "no part"},
	{"continuity in a word", "writer", "GET /v1/conversations/c/continuity?budget=5", "", refusal.Invalid, "budget"},
	{"conversations after none", "writer", "GET /v1/conversations?after=A%20B", "", refusal.Invalid, "conversation"},

	{"an unknown role", "admin", "POST /v1/tokens", `{"role":"king","name":"x"}`, refusal.Invalid, "role"},
	{"a token for nobody", "admin", "POST /v1/tokens", `{"role":"agent","name":"ghost"}`, refusal.NotFound, "ghost"},
	{"a token as an agent", "writer", "POST /v1/tokens", `{"role":"admin","name":"x"}`, refusal.NotPermitted, "create a token"},
	{"the tokens as an agent", "writer", "GET /v1/tokens", "", refusal.NotPermitted, "list tokens"},
	{"revoking no token", "admin", "DELETE /v1/tokens/x", "", refusal.Invalid, "token id"},

	{"a number that is too large", "writer", "GET /v1/inbox?limit=9999", "", refusal.Invalid, "limit: is 9999; use a number <= 500"},
	{"the inbox of nobody", "admin", "GET /v1/inbox?agent=ghost", "", refusal.NotFound, `there is no agent "ghost"`},
	{"a result that is not as expected", "planner", "POST /v1/tasks/OTHER/complete", `{"epoch":1}`, refusal.Invalid, "the result is not as expected"},
	{"a handoff to its owner", "planner", "POST /v1/tasks/OTHER/send", `{"epoch":1,"to":["planner"]}`, refusal.Invalid, "planner has the task already"},
	{"a takeover for the owner itself", "admin", "POST /v1/tasks/TASK/takeover", `{"to":"agent/writer"}`, refusal.Conflict, "writer owns task"},
	{"a value that is none of the choices", "writer", "POST /v1/tasks/TASK/send", `{"epoch":EPOCH,"to":["planner"],"reason":"bored"}`, refusal.Invalid, `reason: "bored" is not one of: timeout, error,`},
	{"a parameter that is none of the choices", "writer", "GET /v1/tickets?state=lost", "", refusal.Invalid, `state: "lost" is not one of: `},
	{"an unknown state", "writer", "GET /v1/tasks?state=lost", "", refusal.Invalid, "state"},
	{"a limit of none", "writer", "GET /v1/tasks?limit=-1", "", refusal.Invalid, "limit"},
	{"a limit of too many", "writer", "GET /v1/tasks?limit=501", "", refusal.Invalid, "limit"},
	{"a limit that is no number", "writer", "GET /v1/tasks?limit=ten", "", refusal.Invalid, "limit"},
	{"a cursor that is none", "writer", "GET /v1/tasks?after=x", "", refusal.Invalid, "not a task id"},
	{"an unknown parameter", "writer", "GET /v1/tasks?colour=red", "", refusal.Invalid, "colour"},
	{"an unknown parameter of a stream", "writer", "GET /v1/events?colour=red", "", refusal.Invalid, "colour"},
	{"a position to come", "writer", "GET /v1/tasks?after_position=999999", "", refusal.Invalid, "beyond the newest entry"},
	{"a position that is none", "writer", "GET /v1/events?after=-1", "", refusal.Invalid, "not a position"},
	{"a stream from a position to come", "writer", "GET /v1/events?after=999999", "", refusal.Invalid, "not a position"},
	{"a negative wait", "writer", "GET /v1/inbox?wait=-1s", "", refusal.Invalid, "out of range"},
	{"an absurd wait", "writer", "GET /v1/inbox?wait=1h", "", refusal.Invalid, "out of range"},
	{"a wait that is none", "writer", "GET /v1/inbox?wait=long", "", refusal.Invalid, "not a duration"},
	{"another's inbox", "writer", "GET /v1/inbox?agent=planner", "", refusal.NotPermitted, "inbox"},

	{"a constraint with origin", "writer", "POST /v1/tasks/TASK/constraints", `{"epoch":EPOCH,"constraint":{"id":"a","kind":"format","text":"t","origin":"operator/oda"}}`, refusal.Invalid, "origin: is not a field of this call"},
	{"a constraint that says it is not added", "writer", "POST /v1/tasks/TASK/constraints", `{"epoch":EPOCH,"constraint":{"id":"a","kind":"format","text":"t","added":false}}`, refusal.Invalid, "added: is not a field of this call"},
	{"a constraint with text_by", "writer", "POST /v1/tasks/TASK/constraints", `{"epoch":EPOCH,"constraint":{"id":"a","kind":"format","text":"t","text_by":"x"}}`, refusal.Invalid, "text_by: is not a field of this call"},
	{"a constraint with hard_by", "writer", "POST /v1/tasks/TASK/constraints", `{"epoch":EPOCH,"constraint":{"id":"a","kind":"format","text":"t","hard_by":"x"}}`, refusal.Invalid, "hard_by: is not a field of this call"},
	{"a constraint with max_by", "writer", "POST /v1/tasks/TASK/constraints", `{"epoch":EPOCH,"constraint":{"id":"a","kind":"format","text":"t","max_by":"x"}}`, refusal.Invalid, "max_by: is not a field of this call"},
	{"a constraint with allow_by", "writer", "POST /v1/tasks/TASK/constraints", `{"epoch":EPOCH,"constraint":{"id":"a","kind":"format","text":"t","allow_by":"x"}}`, refusal.Invalid, "allow_by: is not a field of this call"},
	{"a constraint with added", "writer", "POST /v1/tasks/TASK/constraints", `{"epoch":EPOCH,"constraint":{"id":"a","kind":"format","text":"t","added":true}}`, refusal.Invalid, "added: is not a field of this call"},
	{"a constraint with inherited", "writer", "POST /v1/tasks/TASK/constraints", `{"epoch":EPOCH,"constraint":{"id":"a","kind":"format","text":"t","inherited":true}}`, refusal.Invalid, "inherited: is not a field of this call"},
	{"a task with a constraint's origin", "planner", "POST /v1/tasks", `{"intent":"x","constraints":[{"id":"a","kind":"format","text":"t","origin":"operator/oda"}]}`, refusal.Invalid, "origin: is not a field of this call"},
	{"a task with a constraint without an origin", "planner", "POST /v1/tasks", `{"intent":"x","constraints":[{"id":"a","kind":"format","text":"t","origin":""}]}`, refusal.Invalid, "origin: is not a field of this call"},
	{"a task with a constraint whose setter is null", "planner", "POST /v1/tasks", `{"intent":"x","constraints":[{"id":"a","kind":"format","text":"t","max_by":null}]}`, refusal.Invalid, "max_by: is not a field of this call"},
	{"a handoff with a constraint's origin", "writer", "POST /v1/tasks/TASK/send", `{"epoch":EPOCH,"to":["planner"],"constraints":[{"id":"a","kind":"format","text":"t","text_by":"operator/oda"}]}`, refusal.Invalid, "text_by: is not a field of this call"},

	{"lifting without why", "writer", "DELETE /v1/tasks/TASK/constraints/c1", "", refusal.Invalid, "why"},
	{"lifting what is not there", "writer", "DELETE /v1/tasks/TASK/constraints/c1?why=x", "", refusal.NotFound, "c1"},
	{"a budget that is not limited", "planner", "POST /v1/tasks/TASK/budget", `{"budget":{"tokens":5}}`, refusal.Invalid, "not limited"},
	{"a budget without an amount", "planner", "POST /v1/tasks/TASK/budget", `{"budget":{}}`, refusal.Invalid, "no amount is given"},
	{"a note on no entry", "writer", "POST /v1/tasks/TASK/annotations", `{"entry":0,"note":"x"}`, refusal.Invalid, "entry"},
	{"replaying as an agent", "writer", "POST /v1/dead/TASK/replay", "", refusal.NotPermitted, "replay"},
	{"replaying what lives", "admin", "POST /v1/dead/TASK/replay", "", refusal.Conflict, ""},
	{"discarding without why", "admin", "POST /v1/dead/TASK/discard", `{}`, refusal.Invalid, "why"},
	{"starting another's task", "writer", "POST /v1/tasks/OTHER/start", "", refusal.NotFound, "no task"},
	{"a place that is not there", "writer", "GET /v1/nowhere", "", refusal.NotFound, "nothing at"},
	{"no token", "", "GET /v1/tasks", "", refusal.Unauthenticated, "no token"},
	{"a token that is none", "nonsense", "GET /v1/tasks", "", refusal.Unauthenticated, "not a token"},
}

// callsThatHelp are what the refusals of some calls of badInput name, by the names of the calls.
var callsThatHelp = map[string]string{
	"an id of nothing":                "GET /v1/tasks",
	"a handoff that never was":        "GET /v1/tasks/TASK",
	"a share that never was":          "GET /v1/inbox",
	"an ask that never was":           "GET /v1/tasks/TASK",
	"a wrong epoch":                   "GET /v1/tasks/TASK",
	"replaying what lives":            "GET /v1/dead",
	"a channel that is not there":     "GET /v1/channels",
	"a memory item that is not there": "GET /v1/memory",
	"an intent that is too long":      "PUT /v1/artifacts",
	"lifting what is not there":       "GET /v1/tasks/TASK",

	"a result that is not as expected": "POST /v1/tasks/OTHER/complete",
}

func TestBadInputIsRefusedWithAReasonAndAHint(t *testing.T) {
	h := open(t, httpapi.Options{})
	planner, plannerToken := h.agent("planner")
	writer, writerToken := h.agent("writer")
	sent, err := planner.CreateTask(t.Context(), client.CreateInput{Intent: "x", Send: &client.SendInput{To: []string{"writer"}}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := writer.Accept(t.Context(), sent.Handoff, client.AcceptInput{})
	if err != nil {
		t.Fatal(err)
	}
	other, err := planner.CreateTask(t.Context(), client.CreateInput{Intent: "planner's own", Start: true, Expected: client.Expected{Format: "json"}})
	if err != nil {
		t.Fatal(err)
	}
	tokens := map[string]string{"admin": h.admin, "planner": plannerToken, "writer": writerToken, "nonsense": "nonsense"}
	fill := strings.NewReplacer("TASK", sent.Task, "HANDOFF", sent.Handoff, "OTHER", other.Task, "EPOCH", strconv.FormatUint(got.Epoch, 10))
	for _, c := range badInput {
		t.Run(c.name, func(t *testing.T) {
			r := h.call(tokens[c.as], fill.Replace(c.line), fill.Replace(c.body))
			p := r.problem(t)
			if p.Code != c.code || !strings.Contains(p.Detail, c.says) {
				t.Errorf("%s, want %s with %q", r.body, c.code, c.says)
			}
			if p.Hint == "" || p.Status != r.status || r.header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%d %v %s", r.status, r.header, r.body)
			}
			if want := fill.Replace(callsThatHelp[c.name]); want != "" && !slices.Contains(p.Routes, want) {
				t.Errorf("the routes are %q, want %s: %s", p.Routes, want, p.Hint)
			}
			if len(r.body) > 3000 {
				t.Errorf("the answer has %d bytes", len(r.body))
			}
			if long := h.call(tokens[c.as], fill.Replace(c.line), fill.Replace(c.body), longWay); long.status != r.status || long.body != r.body {
				t.Errorf("the long way says %d %s", long.status, long.body)
			}
		})
	}
	task, err := h.app.Tasks.Show(t.Context(), mustBe(t, h, h.admin), sent.Task)
	if err != nil || task.State != "executing" || task.Owner != "writer" || task.Epoch != got.Epoch {
		t.Errorf("after all that: %+v, %v", task, err)
	}
	if r := h.call("", "GET /healthz", ""); r.status != http.StatusOK {
		t.Error(r)
	}
}
