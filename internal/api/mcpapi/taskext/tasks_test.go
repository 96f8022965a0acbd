package taskext_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestAHandleGivesTheResultWhenItHasCome(t *testing.T) {
	run(t, func(t *testing.T, h *harness) {
		f := h.tool("slow_compute", `{"seconds":3,"label":"x"}`, able)
		keys := slices.Sorted(maps.Keys(f.Result))
		want := []string{"_meta", "createdAt", "lastUpdatedAt", "pollIntervalMs", "resultType", "status", "taskId", "ttlMs"}
		if !slices.Equal(keys, want) || f.Result["status"] != "working" || f.Result["ttlMs"] != float64(time.Hour.Milliseconds()) {
			t.Fatalf("the handle: %v, its fields %v", f.Result, keys)
		}
		id, ok := f.Result["taskId"].(string)
		if got := h.get(id); !ok || got["status"] != "working" || got["result"] != nil {
			t.Fatalf("before: %v", got)
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		got := h.get(id)
		result, ok := got["result"].(map[string]any)
		if !ok || got["status"] != "completed" || result["content"] == nil || result["resultType"] != "complete" || got["lastUpdatedAt"] == got["createdAt"] {
			t.Fatalf("after: %v", got)
		}
	})
}

func TestAResultThatIsThereNeedsNoHandle(t *testing.T) {
	run(t, func(t *testing.T, h *harness) {
		h.server.AddTool(&mcp.Tool{Name: "quick", InputSchema: json.RawMessage(`{"type":"object"}`)}, h.memory.Quick)
		if f := h.tool("quick", `{}`, able); f.Result["resultType"] != "complete" || f.Result["content"] == nil {
			t.Fatalf("%+v", f)
		}
	})
}

func TestWhoDoesNotDeclareTheExtension(t *testing.T) {
	run(t, func(t *testing.T, h *harness) {
		if f := h.tool("slow_compute", `{"seconds":3,"label":"x"}`, ignorant); f.Result["resultType"] != "complete" || f.Result["content"] == nil {
			t.Errorf("instead of the result: %+v", f)
		}
		id := h.begin("slow_compute", `{"seconds":3,"label":"x"}`)
		for method, params := range map[string]string{
			"tools/call":           `{"name":"failing_job","arguments":{}`,
			"tasks/get":            `{"taskId":"` + id + `"`,
			"tasks/update":         `{"taskId":"` + id + `","inputResponses":{}`,
			"tasks/cancel":         `{"taskId":"` + id + `"`,
			"subscriptions/listen": `{"notifications":{"taskIds":["` + id + `"]}`,
		} {
			name := id
			if method == "tools/call" {
				name = "failing_job"
			}
			a := h.send(request(method, name, params, ignorant))
			if a.status != 400 || len(a.frames) != 1 || a.frames[0].Error == nil || a.frames[0].Error.Code != -32021 {
				t.Errorf("%s: status %d: %s", method, a.status, a.body)
				continue
			}
			data, err := json.Marshal(a.frames[0].Error.Data)
			if want := `{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`; err != nil || string(data) != want {
				t.Errorf("%s: data: %s", method, data)
			}
		}
	})
}

func TestTheErrorsOfATask(t *testing.T) {
	run(t, func(t *testing.T, h *harness) {
		tool, protocol := h.begin("failing_job", `{}`), h.begin("protocol_error_job", `{}`)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		got := h.get(tool)
		if result, ok := got["result"].(map[string]any); !ok || got["status"] != "completed" || result["isError"] != true {
			t.Errorf("a tool that fails: %v", got)
		}
		got = h.get(protocol)
		if e, ok := got["error"].(map[string]any); !ok || got["status"] != "failed" || e["code"] != float64(-32603) || got["result"] != nil {
			t.Errorf("a call that is refused: %v", got)
		}
	})
}

func TestCancellingIsFinalAndMayBeRepeated(t *testing.T) {
	run(t, func(t *testing.T, h *harness) {
		id := h.begin("slow_compute", `{"seconds":60,"label":"x"}`)
		for range 2 {
			f := h.one(of("tasks/cancel", id))
			if _, tells := f.Result["status"]; f.Result["resultType"] != "complete" || tells {
				t.Fatalf("%+v", f)
			}
			if got := h.get(id); got["status"] != "cancelled" {
				t.Fatalf("%v", got)
			}
		}
	})
}

func TestAQuestionIsAnsweredOnceByKey(t *testing.T) {
	run(t, func(t *testing.T, h *harness) {
		id := h.begin("multi_input", `{}`)
		synctest.Wait()
		open := func() []string {
			asked, _ := h.get(id)["inputRequests"].(map[string]any)
			return slices.Sorted(maps.Keys(asked))
		}
		if got := open(); !slices.Equal(got, []string{"first", "second"}) {
			t.Fatalf("asked: %v", got)
		}
		for responses, why := range map[string]string{
			`{"first":7}`:                  "no response to an elicitation",
			`{"first":{"action":"shout"}}`: "not an action",
			`null`:                         "no responses",
			`[]`:                           "a list",
		} {
			if f := h.update(id, responses); f.Error == nil || f.Error.Code != -32602 {
				t.Errorf("%s was taken: %+v", why, f)
			}
		}
		for _, responses := range []string{`{"other":{"ignored":true}}`, `{"first":{"action":"accept","content":{"confirm":true}}}`, `{"first":{"action":"decline"}}`} {
			if f := h.update(id, responses); f.Result["resultType"] != "complete" {
				t.Errorf("%s: %+v", responses, f)
			}
		}
		if got := open(); !slices.Equal(got, []string{"second"}) {
			t.Fatalf("still asked: %v", got)
		}
		h.update(id, `{"second":{"action":"cancel"}}`)
		synctest.Wait()
		if got := h.get(id); got["status"] != "completed" {
			t.Fatalf("%v", got)
		}
		if f := h.update(id, `{"second":{"action":"accept"}}`); f.Result["resultType"] != "complete" {
			t.Fatalf("after the end: %+v", f)
		}
	})
}

func TestAClientThatCannotAskItsUserIsNotAskedTo(t *testing.T) {
	run(t, func(t *testing.T, h *harness) {
		id := h.begin("confirm_delete", `{}`)
		synctest.Wait()
		f := h.one(request("tasks/get", id, `{"taskId":"`+id+`"`, shy))
		if f.Result["status"] != "working" || f.Result["inputRequests"] != nil {
			t.Fatalf("%+v", f)
		}
	})
}

func TestAHandleThatNobodyKnows(t *testing.T) {
	run(t, func(t *testing.T, h *harness) {
		long := strings.Repeat("x", 10_000)
		for _, id := range []string{"nobody", "", long} {
			for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/update"} {
				f := h.one(request(method, id, `{"taskId":"`+id+`","inputResponses":{}`, able))
				if f.Error == nil || f.Error.Code != -32602 || len(f.Error.Message) > 300 {
					t.Errorf("%s of %.10q: %+v", method, id, f)
				}
			}
		}
	})
}

func TestTheHeaderNamesTheTaskOfTheBody(t *testing.T) {
	run(t, func(t *testing.T, h *harness) {
		id := h.begin("slow_compute", `{"seconds":60,"label":"x"}`)
		for _, name := range []string{"another", ""} {
			a := h.send(request("tasks/get", name, `{"taskId":"`+id+`"`, able))
			if a.status != 400 || len(a.frames) != 1 || a.frames[0].Error == nil || a.frames[0].Error.Code != -32020 {
				t.Errorf("header %q: status %d: %s", name, a.status, a.body)
			}
		}
	})
}

// An older client has no way to say that it knows the extension, whatever it says.
func TestOlderProtocolsHaveNoTasks(t *testing.T) {
	run(t, func(t *testing.T, h *harness) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		here, there := mcp.NewInMemoryTransports()
		session, err := h.server.Connect(ctx, there, nil)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := here.Connect(ctx)
		if err != nil {
			t.Fatal(err)
		}
		call := speak(t, conn)
		call(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"old","version":"1"},"capabilities":`+able+`}}`, "")
		call(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow_compute","arguments":{"seconds":0,"label":"x"}}}`, `"content":[`)
		call(`{"jsonrpc":"2.0","id":3,"method":"tasks/get","params":{"taskId":"x"}}`, `"code":-32601`)
		call(`{"jsonrpc":"2.0","id":4,"method":"tasks/get"}`, `"code":-32602`)
		call(`{"jsonrpc":"2.0","id":5,"method":"tasks/update","params":null}`, `"code":-32602`)
		_ = conn.Close()
		_ = session.Wait()
	})
}
