//go:build slow || outside

package scenario

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	api "github.com/trapezehq/trapeze/client"
)

// handles is a server whose agents' MCP clients support tasks: they get a handle for a result that comes later.
type handles struct {
	*rig
	url    string
	tokens map[string]string
}

// handleStory starts a server, this test program or another, with a lead, a reviewer and a stranger.
func handleStory(t *testing.T, program ...string) *handles {
	h := &handles{rig: newRig(t, t.TempDir(), modeServe), tokens: map[string]string{}}
	h.program = program
	h.url = h.start()
	for _, name := range []string{"lead", "reviewer", "stranger"} {
		admin := h.client(h.url, h.token)
		if _, err := admin.RegisterAgent(t.Context(), name, api.AgentSpec{}); err != nil {
			t.Fatal(err)
		}
		token, err := admin.CreateToken(t.Context(), api.TokenInput{Role: api.RoleAgent, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		h.tokens[name] = token.Text
	}
	return h
}

// as is an agent's client of the HTTP API.
func (h *handles) as(name string) *api.Client { return h.client(h.url, h.tokens[name]) }

// reply is the answer to a request of the protocol.
type reply struct {
	Method string
	Params map[string]any
	Result map[string]any
	Error  *struct {
		Code    int
		Message string
	}
}

// post sends a request of the new era, and returns the stream of the answer.
func (h *handles) post(name, method, about string, params map[string]any) io.ReadCloser {
	h.Helper()
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientCapabilities": map[string]any{"elicitation": map[string]any{}, "extensions": map[string]any{"io.modelcontextprotocol/tasks": map[string]any{}}},
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		h.Fatal(err)
	}
	req, err := http.NewRequestWithContext(h.Context(), http.MethodPost, h.url+"/mcp", bytes.NewReader(body))
	if err != nil {
		h.Fatal(err)
	}
	for k, v := range map[string]string{
		"Authorization": "Bearer " + h.tokens[name], "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": about,
	} {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		h.Fatal(err)
	}
	return res.Body
}

// messages calls fn with each message until it returns true.
func (h *handles) messages(body io.ReadCloser, fn func(reply) (enough bool)) {
	h.Helper()
	defer func() { _ = body.Close() }()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		text := strings.TrimPrefix(lines.Text(), "data: ")
		if !strings.HasPrefix(text, "{") {
			continue
		}
		var r reply
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			h.Fatalf("%s: %v", text, err)
		}
		if fn(r) {
			return
		}
	}
	h.Fatalf("the stream ended: %v", lines.Err())
}

func (h *handles) ask(name, method, about string, params map[string]any) (r reply) {
	h.Helper()
	h.messages(h.post(name, method, about, params), func(m reply) bool { r = m; return m.Method == "" })
	return r
}

func (h *handles) call(name, tool string, arguments map[string]any) reply {
	h.Helper()
	return h.ask(name, "tools/call", tool, map[string]any{"name": tool, "arguments": arguments})
}

// begin calls a tool, which must answer with a handle.
func (h *handles) begin(name, tool string, arguments map[string]any) string {
	h.Helper()
	r := h.call(name, tool, arguments)
	id, ok := r.Result["taskId"].(string)
	if !ok || r.Result["resultType"] != "task" || r.Result["status"] != "working" {
		h.Fatalf("%s gave no handle: %+v %+v", tool, r, r.Error)
	}
	return id
}

func (h *handles) get(name, id string) reply {
	h.Helper()
	return h.ask(name, "tasks/get", id, map[string]any{"taskId": id})
}

// until reads a handle until it has a status.
func (h *handles) until(name, id, status string) map[string]any {
	h.Helper()
	for deadline := time.Now().Add(patience); ; <-time.After(10 * time.Millisecond) {
		r := h.get(name, id)
		if r.Error != nil {
			h.Fatalf("tasks/get: %+v", r.Error)
		}
		if r.Result["status"] == status {
			return r.Result
		}
		if time.Now().After(deadline) {
			h.Fatalf("the handle does not come to %s: %v", status, r.Result)
		}
	}
}

// accept lets the reviewer take what waits for it.
func (h *handles) accept() api.Accepted {
	h.Helper()
	c := h.as("reviewer")
	items, err := c.WaitInbox(h.Context(), api.InboxOptions{})
	if err != nil {
		h.Fatal(err)
	}
	a, err := c.Accept(h.Context(), items[0].ID, api.AcceptInput{})
	if err != nil {
		h.Fatal(err)
	}
	return a
}

func (h *handles) finish(a api.Accepted, text string) {
	h.Helper()
	if _, err := h.as("reviewer").Complete(h.Context(), a.Task, api.CompleteInput{Epoch: a.Epoch, Result: api.Result{Text: text}}); err != nil {
		h.Fatal(err)
	}
}

// own creates a task that the lead works on.
func (h *handles) own() string {
	h.Helper()
	r, err := h.as("lead").CreateTask(h.Context(), api.CreateInput{Intent: "Ship it", Start: true})
	if err != nil {
		h.Fatal(err)
	}
	return r.Task
}

func (h *handles) delegation(task string) map[string]any {
	return map[string]any{"task": task, "to": "reviewer", "kind": "delegation", "ask": "review it", "key": "delegate-" + task}
}

func TestADelegationIsAHandleThatOutlivesTheServer(t *testing.T) {
	h := handleStory(t, crashProgram(t)...)
	task := h.own()
	handle := h.begin("lead", "send", h.delegation(task))
	h.kill()
	h.url = h.start()
	if got := h.get("lead", handle); got.Result["status"] != "working" {
		t.Fatalf("after the crash: %+v", got)
	}
	if again := h.begin("lead", "send", h.delegation(task)); again != handle { // its client did not wait for the answer
		t.Fatalf("the repeated call made %s beside %s", again, handle)
	}
	parent, err := h.as("lead").Task(t.Context(), task)
	if err != nil || len(parent.Children) != 1 {
		t.Fatalf("%d children: %v", len(parent.Children), err)
	}
	a := h.accept()
	if _, err := h.as("reviewer").Progress(t.Context(), a.Task, api.ProgressInput{Epoch: a.Epoch, Note: "read half of it"}); err != nil {
		t.Fatal(err)
	}
	if got := h.get("lead", handle); !strings.Contains(fmt.Sprint(got.Result["statusMessage"]), "reviewer (executing: `read half of it`)") {
		t.Errorf("under way: %+v", got)
	}
	h.finish(a, "two bugs")
	h.until("lead", handle, "completed")
	h.kill()
	h.url = h.start()
	got := h.until("lead", handle, "completed")
	text := fmt.Sprint(got["result"])
	for _, want := range []string{"two bugs", "1 of 1 results have arrived", "continue task " + task} {
		if !strings.Contains(text, want) {
			t.Errorf("the result lacks %q: %s", want, text)
		}
	}
}

func TestAHandleIsItsOwners(t *testing.T) {
	h := handleStory(t)
	handle := h.begin("lead", "send", h.delegation(h.own()))
	for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/update"} {
		r := h.ask("stranger", method, handle, map[string]any{"taskId": handle, "inputResponses": map[string]any{}})
		if r.Error == nil || r.Error.Code != -32602 {
			t.Errorf("%s: %+v", method, r)
		}
	}
}

func TestCancellingAHandleCallsTheChildOff(t *testing.T) {
	h := handleStory(t)
	task := h.own()
	handle := h.begin("lead", "send", h.delegation(task))
	a := h.accept()
	for range 2 {
		if r := h.ask("lead", "tasks/cancel", handle, map[string]any{"taskId": handle}); r.Error != nil || r.Result["resultType"] != "complete" {
			t.Fatalf("%+v", r)
		}
	}
	h.until("lead", handle, "cancelled")
	child, err := h.as("reviewer").Task(t.Context(), a.Task)
	if err != nil || child.State != api.Cancelled {
		t.Errorf("the child is %s: %v", child.State, err)
	}
	parent, err := h.as("lead").Task(t.Context(), task)
	if err != nil || parent.State != api.Executing || parent.Owner != "lead" {
		t.Errorf("the parent is %s, owner %q: %v", parent.State, parent.Owner, err)
	}
}

func TestAQuestionIsAHandleUntilSomebodyAnswers(t *testing.T) {
	h := handleStory(t)
	task := h.own()
	handle := h.begin("lead", "ask", map[string]any{"task": task, "question": "Ship on Friday?", "wait": 50})
	h.kill()
	h.url = h.start()
	if _, err := h.client(h.url, h.token).Answer(t.Context(), handle, api.AnswerInput{Answer: "never"}); err != nil {
		t.Fatal(err)
	}
	got := h.until("lead", handle, "completed")
	if text := fmt.Sprint(got["result"]); !strings.Contains(text, "answer:never") || !strings.Contains(text, "continue the task") {
		t.Errorf("%s", text)
	}
}

func TestAStreamTellsWhenADelegationIsDone(t *testing.T) {
	h := handleStory(t)
	handle := h.begin("lead", "send", h.delegation(h.own()))
	stream := h.post("lead", "subscriptions/listen", "", map[string]any{"notifications": map[string]any{"taskIds": []string{handle}}})
	begun := false
	h.messages(stream, func(m reply) bool {
		if m.Method == "notifications/tasks" && !begun {
			begun = true
			h.finish(h.accept(), "two bugs")
		}
		return m.Method == "notifications/tasks" && m.Params["status"] == "completed" && strings.Contains(fmt.Sprint(m.Params["result"]), "two bugs")
	})
}

func TestADelegationThatFailsIsAResultThatSaysSo(t *testing.T) {
	h := handleStory(t)
	handle := h.begin("lead", "send", h.delegation(h.own()))
	a := h.accept()
	if _, err := h.as("reviewer").Fail(t.Context(), a.Task, api.FailInput{Epoch: a.Epoch, Detail: "no compiler"}); err != nil {
		t.Fatal(err)
	}
	result, _ := h.until("lead", handle, "completed")["result"].(map[string]any)
	if text := fmt.Sprint(result); result["isError"] != true || !strings.Contains(text, "0 of 1 results have arrived") || !strings.Contains(text, "failed") {
		t.Errorf("%s", text)
	}
}

func TestAFanOutIsOneHandleForAllResults(t *testing.T) {
	h := handleStory(t)
	handle := h.begin("lead", "send", map[string]any{"intent": "Who is right?", "to": []string{"reviewer", "stranger"}, "kind": "broadcast", "fan_out": true})
	for _, name := range []string{"reviewer", "stranger"} {
		c := h.as(name)
		items, err := c.WaitInbox(t.Context(), api.InboxOptions{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := c.Accept(t.Context(), items[0].ID, api.AcceptInput{})
		if err != nil {
			t.Fatal(err)
		}
		if got := h.get("lead", handle); got.Result["status"] != "working" {
			t.Errorf("before %s is done: %+v", name, got)
		}
		if _, err := c.Complete(t.Context(), a.Task, api.CompleteInput{Epoch: a.Epoch, Result: api.Result{Text: "by " + name}}); err != nil {
			t.Fatal(err)
		}
	}
	text := fmt.Sprint(h.until("lead", handle, "completed")["result"])
	for _, want := range []string{"by reviewer", "by stranger", "2 of 2 results have arrived", "state:completed"} {
		if !strings.Contains(text, want) {
			t.Errorf("the result lacks %q: %s", want, text)
		}
	}
}

// The receiver of a delegation asks the operators. The person at the sender's client is one of them.
func TestAQuestionOfTheDelegateReachesThePersonAtTheSendersClient(t *testing.T) {
	h := handleStory(t)
	token, err := h.client(h.url, h.token).CreateToken(t.Context(), api.TokenInput{Role: api.RoleAgent, Name: "lead", Person: "pia"})
	if err != nil {
		t.Fatal(err)
	}
	h.tokens["lead"] = token.Text
	handle := h.begin("lead", "send", h.delegation(h.own()))
	a := h.accept()
	asked, err := h.as("reviewer").Ask(t.Context(), a.Task, api.AskInput{Epoch: a.Epoch, Question: "Which branch?"})
	if err != nil {
		t.Fatal(err)
	}
	open, _ := h.until("lead", handle, "input_required")["inputRequests"].(map[string]any)
	if len(open) != 1 || !strings.Contains(fmt.Sprint(open[asked.Ticket]), "Which branch?") {
		t.Fatalf("asked: %v", open)
	}
	for _, answer := range []string{"main", "another"} { // the second comes too late, and changes nothing
		r := h.ask("lead", "tasks/update", handle, map[string]any{"taskId": handle, "inputResponses": map[string]any{
			asked.Ticket: map[string]any{"action": "accept", "content": map[string]any{"answer": answer}},
		}})
		if r.Error != nil {
			t.Fatalf("%+v", r.Error)
		}
	}
	k, err := h.as("reviewer").Ticket(t.Context(), asked.Ticket, 0)
	if err != nil || k.Answer != "main" || !strings.Contains(k.ClosedBy, "pia") {
		t.Errorf("answered %q by %q: %v", k.Answer, k.ClosedBy, err)
	}
	h.until("lead", handle, "working")
}
