package taskext_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/internal/api/mcpapi/mcptest"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/taskext"
)

// harness is a server with the extension and the fixtures of the conformance suite, with a fake clock.
type harness struct {
	t       *testing.T
	memory  *mcptest.Memory
	server  *mcp.Server
	handler http.Handler

	following taskext.Following
}

// run runs a test.
func run(t *testing.T, test func(*testing.T, *harness)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &harness{t: t, memory: mcptest.NewMemory()}
		can := &mcp.ServerCapabilities{}
		taskext.Advertise(can)
		h.server = mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ServerOptions{Capabilities: can})
		mcptest.Add(h.server, h.memory)
		if err := taskext.Install(h.server, h.memory); err != nil {
			t.Fatal(err)
		}
		newer := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return h.server }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
		h.handler = taskext.Handler(newer, func(*http.Request) (taskext.Source, *taskext.Following) { return h.memory, &h.following })
		defer func() {
			h.memory.Close()
			synctest.Wait()
		}()
		test(t, h)
	})
}

// answer is what came back.
type answer struct {
	status int
	body   string
	frames []frame // of a stream; of a plain answer, the one
}

type frame struct {
	Method string         `json:"method"`
	Params map[string]any `json:"params"`
	Result map[string]any `json:"result"`
	Error  *struct {
		Code    int            `json:"code"`
		Message string         `json:"message"`
		Data    map[string]any `json:"data"`
	} `json:"error"`
}

// The capabilities of clients.
const (
	able     = `{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	shy      = `{"extensions":{"io.modelcontextprotocol/tasks":{}}}` // cannot ask its user
	ignorant = `{}`
)

// request returns a request of protocol 2026-07-28; params is an object without its last brace.
func request(method, name, params, can string) *http.Request {
	body := `{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":` + params + `,"_meta":{
		"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + can + `}}}`
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	r.Header.Set("Mcp-Method", method)
	if name != "" {
		r.Header.Set("Mcp-Name", name)
	}
	return r
}

func (h *harness) send(r *http.Request) answer {
	h.t.Helper()
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	a := answer{status: w.Code, body: w.Body.String()}
	for line := range strings.Lines(a.body) {
		text := strings.TrimPrefix(strings.TrimSpace(line), "data: ")
		if !strings.HasPrefix(text, "{") {
			continue
		}
		var f frame
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			h.t.Fatalf("%s: %v", text, err)
		}
		a.frames = append(a.frames, f)
	}
	return a
}

// one is the answer to a request that has one.
func (h *harness) one(r *http.Request) frame {
	h.t.Helper()
	a := h.send(r)
	if len(a.frames) != 1 {
		h.t.Fatalf("status %d: %s", a.status, a.body)
	}
	return a.frames[0]
}

func (h *harness) tool(name, arguments, can string) frame {
	h.t.Helper()
	return h.one(request("tools/call", name, `{"name":"`+name+`","arguments":`+arguments, can))
}

// begin calls a tool that takes long, and returns the handle.
func (h *harness) begin(name, arguments string) string {
	h.t.Helper()
	f := h.tool(name, arguments, able)
	id, ok := f.Result["taskId"].(string)
	if !ok || f.Result["resultType"] != "task" {
		h.t.Fatalf("%s gave no handle: %+v", name, f)
	}
	return id
}

// of makes a request about a task.
func of(method, id string) *http.Request { return request(method, id, `{"taskId":"`+id+`"`, able) }

func (h *harness) get(id string) map[string]any {
	h.t.Helper()
	f := h.one(of("tasks/get", id))
	if f.Error != nil || f.Result["resultType"] != "complete" || f.Result["taskId"] != id {
		h.t.Fatalf("tasks/get: %+v", f)
	}
	return f.Result
}

func (h *harness) update(id, responses string) frame {
	h.t.Helper()
	return h.one(request("tasks/update", id, `{"taskId":"`+id+`","inputResponses":`+responses, able))
}
