package httpapi_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// foreign is an id of what a stranger may not see, and one of what is not there.
type foreign struct{ theirs, nobodys string }

// bodies are requests that are well formed, for endpoints whose body has more than its required fields.
var bodies = map[string]string{
	"PUT /v1/agents/{id}/readiness":       `{"readiness":"ready"}`,
	"POST /v1/conversations/{id}/turns":   `{"role":"user","text":"hello","task":"TASK"}`,
	"POST /v1/tasks/{id}/annotations":     `{"entry":1,"note":"n"}`,
	"POST /v1/tasks/{id}/ask":             `{"epoch":1,"question":"may I?"}`,
	"POST /v1/tasks/{id}/budget":          `{"budget":{"tokens":1000}}`,
	"POST /v1/tasks/{id}/complete":        `{"epoch":1,"result":{"text":"done"}}`,
	"POST /v1/tasks/{id}/constraints":     `{"epoch":1,"constraint":{"kind":"format","text":"short"}}`,
	"POST /v1/tasks/{id}/fail":            `{"epoch":1,"detail":"d"}`,
	"POST /v1/tasks/{id}/gap":             `{"epoch":1,"missing":[{"id":"x","why":"not there"}]}`,
	"POST /v1/tasks/{id}/heartbeat":       `{"epoch":1}`,
	"POST /v1/tasks/{id}/progress":        `{"epoch":1,"note":"n"}`,
	"POST /v1/tasks/{id}/send":            `{"epoch":1,"to":["ann"]}`,
	"POST /v1/tasks/{id}/share":           `{"epoch":1,"to":"ann"}`,
	"POST /v1/tasks/{id}/escalate":        `{"epoch":1,"to":"ann"}`,
	"POST /v1/tasks/{id}/stuck":           `{"owner":"ann"}`,
	"POST /v1/tasks/{id}/takeover":        `{"from":"ann","detail":"mine"}`,
	"POST /v1/handoffs/{id}/accept":       `{"offer":1}`,
	"POST /v1/handoffs/{id}/reject":       `{"offer":1,"reason":"refused"}`,
	"POST /v1/tickets/{id}/answer":        `{"answer":"yes"}`,
	"POST /v1/memory/{id}/revise":         `{"text":"new"}`,
	"POST /v1/memory/{id}/weigh":          `{"importance":1}`,
	"POST /v1/memory/{id}/tag":            `{"add":["t"]}`,
	"POST /v1/dead/{id}/discard":          `{"why":"d"}`,
	"POST /v1/agents/{id}/shed":           `{}`,
	"PUT /v1/channels/{id}/description":   `{"description":"d"}`,
	"POST /v1/channels/{id}/subscribe":    `{}`,
	"POST /v1/channels/{id}/unsubscribe":  `{}`,
	"DELETE /v1/tasks/{id}/constraints/x": `{"why":"d"}`,
}

// inBodies are requests that name in their body or their query what the caller may not see.
var inBodies = map[string]string{
	"POST /v1/tasks":                           `{"intent":"x","dependencies":["TASK"]}`,
	"POST /v1/tasks ":                          `{"intent":"x","start":true,"content":{"memory":[{"id":"MEMORY"}]}}`,
	"POST /v1/tasks  ":                         `{"intent":"x","content":{"artifacts":[{"digest":"DIGEST","name":"f"}]}}`,
	"POST /v1/memory":                          `{"text":"x","scope":"task","task":"TASK"}`,
	"POST /v1/do":                              `{"text":"take over TASK from ann"}`,
	"POST /v1/do ":                             `{"text":"what is the handoff history","task":"TASK"}`,
	"POST /v1/conversations/fresh/turns":       `{"role":"user","text":"hi","task":"TASK"}`,
	"POST /v1/conversations/fresh/turns ":      `{"role":"user","text":"hi","handoff":"TASK.h1"}`,
	"GET /v1/tasks?parent=TASK":                "",
	"GET /v1/memory?task=TASK":                 "",
	"GET /v1/memory?conversation=CONVERSATION": "",
	"GET /v1/conversations?task=TASK":          "",
	"GET /v1/audit/export?task=TASK":           "",
}

// TestNothingTellsWhatIsThereFromWhatIsNot makes every call of the API with an id of what the caller may not see, and with one of what does not exist: the answers are the same.
func TestNothingTellsWhatIsThereFromWhatIsNot(t *testing.T) {
	h := open(t, httpapi.Options{})
	ids := h.theirs()
	_, stranger := h.agent("eve")
	var description struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	r := h.call(stranger, "GET /openapi.json", "")
	if err := json.Unmarshal([]byte(r.body), &description); err != nil {
		t.Fatal(err)
	}
	calls := map[string]string{}
	for path, methods := range description.Paths {
		if _, of := kindOf(path, ids); !strings.Contains(path, "{") || of == nil {
			continue
		}
		for method := range methods {
			if line := strings.ToUpper(method) + " " + path; method != "parameters" {
				calls[line] = bodies[line]
			}
		}
	}
	if len(calls) < 50 {
		t.Errorf("only %d calls", len(calls))
	}
	maps.Copy(calls, inBodies)
	for _, line := range slices.Sorted(maps.Keys(calls)) {
		var said [2]string
		for i := range said {
			path := strings.NewReplacer("{constraint}", "x").Replace(strings.TrimSpace(line))
			if kind, of := kindOf(path, ids); of != nil {
				path = strings.NewReplacer("{id}", pick(ids[kind], i), "{digest}", pick(ids[kind], i)).Replace(path)
			}
			body := calls[line]
			for _, kind := range []string{"TASK", "MEMORY", "DIGEST", "CONVERSATION"} {
				path, body = strings.ReplaceAll(path, kind, pick(ids[kind], i)), strings.ReplaceAll(body, kind, pick(ids[kind], i))
			}
			if body == "" && !strings.HasPrefix(path, http.MethodGet) && !strings.HasPrefix(path, http.MethodHead) && !strings.HasPrefix(path, http.MethodDelete) {
				body = "{}"
			}
			r := h.call(stranger, path, body)
			text := strings.ReplaceAll(r.body, pick(ids["CONVERSATION"], i), "ID")
			said[i] = volatile.ReplaceAllString(http.StatusText(r.status)+" "+text, "")
		}
		if said[0] != said[1] {
			t.Errorf("%s\n  of what is there: %s\n  of what is not:   %s", line, said[0], said[1])
		}
	}
}

func pick(f foreign, i int) string {
	if i == 0 {
		return f.theirs
	}
	return f.nobodys
}

// kindOf is which kind of id a path has, nil where everybody may read what it names.
func kindOf(path string, ids map[string]foreign) (string, *foreign) {
	for prefix, kind := range map[string]string{
		"/v1/tasks/{": "TASK", "/v1/dead/{": "TASK", "/v1/handoffs/{": "HANDOFF", "/v1/asks/{": "ASK", "/v1/tickets/{": "TICKET", "/v1/shares/{": "SHARE",
		"/v1/memory/{": "MEMORY", "/v1/artifacts/{": "DIGEST", "/v1/tokens/{": "TOKEN",
	} {
		if strings.Contains(path, prefix) {
			f := ids[kind]
			return kind, &f
		}
	}
	if strings.Contains(path, "/v1/conversations/{") && !strings.HasSuffix(path, "/turns") { // a name that is taken is refused to those who begin one
		f := ids["CONVERSATION"]
		return "CONVERSATION", &f
	}
	return "", nil
}

// volatile matches what differs from call to call.
var volatile = regexp.MustCompile(`task_[a-z0-9]{26}(\.[a-z]\d+)?|sha256:[0-9a-f]{64}|mem_[a-z0-9]{26}|"(position|at|lease|next|confirm|created|time|instance)":("[^"]*"|\d+)`)

// theirs makes what a stranger may not see, of each kind that has an id of its own.
func (h *harness) theirs() map[string]foreign {
	h.t.Helper()
	ctx := h.t.Context()
	ann, _ := h.agent("ann")
	bob, _ := h.agent("bob")
	must := func(r client.Receipt, err error) client.Receipt {
		h.t.Helper()
		if err != nil {
			h.t.Fatal(err)
		}
		return r
	}
	task := must(ann.CreateTask(ctx, client.CreateInput{Intent: "private", Start: true, Conversation: "secret"}))
	share := must(ann.Share(ctx, task.Task, client.ShareInput{Epoch: task.Epoch, To: "bob"}))
	ask := must(bob.Takeover(ctx, task.Task, client.TakeoverInput{}))
	ticket := must(ann.Ask(ctx, task.Task, client.AskInput{Epoch: task.Epoch, Question: "may I?"}))
	sent := must(ann.CreateTask(ctx, client.CreateInput{Intent: "private", Send: &client.SendInput{To: []string{"bob"}}}))
	item, err := ann.Remember(ctx, client.RememberInput{Text: "private"})
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := ann.AppendTurn(ctx, "secret", client.TurnInput{Role: client.SpeakerAssistant, Text: "private"}); err != nil {
		h.t.Fatal(err)
	}
	file, err := ann.PutArtifact(ctx, strings.NewReader("private"), "")
	if err != nil {
		h.t.Fatal(err)
	}
	none := "task_" + strings.Repeat("0", 25) + "1"
	return map[string]foreign{
		"TASK": {task.Task, none}, "SHARE": {share.Share, none + ".s1"}, "ASK": {ask.Takeover, none + ".t1"}, "TICKET": {ticket.Ticket, none + ".k1"},
		"HANDOFF": {sent.Handoff, none + ".h1"}, "MEMORY": {item.ID, "mem_" + strings.Repeat("0", 25) + "1"}, "CONVERSATION": {"secret", "nobody"},
		"DIGEST": {file.Digest, "sha256:" + strings.Repeat("0", 64)}, "TOKEN": {strings.Repeat("a", 16), strings.Repeat("a", 16)},
	}
}
