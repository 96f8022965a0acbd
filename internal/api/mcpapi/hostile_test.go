package mcpapi_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/api/inprocess"
)

// post sends a message as it is, in the newer version unless the headers say otherwise, and gives what comes back.
func post(t *testing.T, url, token, body string, headers ...string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": statelessVersion,
	} {
		r.Header.Set(name, value)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Set(name, value)
		if value == "" {
			r.Header.Del(name)
		}
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// toolCall is a call of the newer version, and the headers that go with it.
func toolCall(tool, args string) (body string, headers []string) {
	return `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "` + tool + `", "arguments": ` + args +
			`, "_meta": {"io.modelcontextprotocol/protocolVersion": "` + statelessVersion + `", "io.modelcontextprotocol/clientCapabilities": {}}}}`,
		[]string{"Mcp-Method: tools/call", "Mcp-Name: " + tool}
}

func TestWhatIsWrongIsRefusedAndTheServerLivesOn(t *testing.T) {
	h := open(t)
	s := httptest.NewServer(h.api)
	t.Cleanup(s.Close)
	token := h.token("coder")
	good, headers := toolCall("status", "{}")
	huge, _ := toolCall("send", `{"intent": "`+strings.Repeat("x", 10<<20)+`"}`)
	deep, deepHeaders := toolCall("send", `{"intent": "x", "data": `+strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000)+`}`)
	for _, c := range []struct {
		name, url, token, body string
		headers                []string
		status                 int
	}{
		{"no token", "", "", good, append([]string{"Authorization: "}, headers...), http.StatusUnauthorized},
		{"no such token", "", "trapeze_x", good, headers, http.StatusUnauthorized},
		{"no bearer", "", "", good, append([]string{"Authorization: Basic YTpi"}, headers...), http.StatusUnauthorized},
		{"another name for this machine", "", token, good, append([]string{"Host: attacker.example"}, headers...), http.StatusForbidden},
		{"a page of another site", "", token, good, append([]string{"Origin: https://attacker.example", "Sec-Fetch-Site: cross-site"}, headers...), http.StatusForbidden},
		{"ten megabytes", "", token, huge, []string{"Mcp-Method: tools/call", "Mcp-Name: send"}, http.StatusRequestEntityTooLarge},
		{"no JSON", "", token, "{not json", headers, http.StatusBadRequest},
		{"nothing", "", token, "", headers, http.StatusBadRequest},
		{"another tool in the header", "", token, good, []string{"Mcp-Method: tools/call", "Mcp-Name: send"}, http.StatusBadRequest},
		{"an unknown version", "", token, good, append([]string{"Mcp-Protocol-Version: 1999-01-01"}, headers...), http.StatusBadRequest},
		{"a session that is not", "", token, good, []string{"Mcp-Protocol-Version: " + sessionVersion, "Mcp-Session-Id: nobody"}, http.StatusNotFound},
		{"bytes that are no text", "", token, strings.Replace(good, `"id": 1`, "\"id\": \"\xff\"", 1), headers, http.StatusBadRequest},
		{"text", "", token, good, append([]string{"Content-Type: text/plain"}, headers...), http.StatusUnsupportedMediaType},
	} {
		if status, answer := post(t, s.URL+"/mcp", c.token, c.body, c.headers...); status != c.status {
			t.Errorf("%s: %d %.300s", c.name, status, answer)
		}
	}
	if status, answer := post(t, s.URL+"/mcp", token, deep, deepHeaders...); status == http.StatusOK && !strings.Contains(answer, `"isError":true`) {
		t.Errorf("deep nesting was taken: %d %.300s", status, answer)
	}
	status, answer := post(t, s.URL+"/mcp", token, good, headers...)
	if status != http.StatusOK || !strings.Contains(answer, "No open tasks.") {
		t.Errorf("the server does not answer any more: %d %s", status, answer)
	}
}

func TestATrickySpellingOfArgumentsIsRefused(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		coder := h.agent(version, "coder")
		for _, c := range []struct{ tool, args, says string }{
			{"decide", `{"id": "task_x.h1", "Verdict": "perhaps"}`, "takes no"},
			{"decide", `{"id": "task_x.h1", "verdict": "perhaps", "VERDICT": ""}`, "takes no"},
			{"send", `{"intent": "x", "FROM": "boss"}`, "takes no"},
			{"send", `{"intent": "x", "Key": "k"}`, "takes no"},
			{"send", `{"intent": "x", "intent": "y"}`, `has the field "intent" twice`},
			{"send", `{"intent": "x", "inten\u0074": "y"}`, `has the field "intent" twice`},
			{"send", `{"intent": "x", "facts": [{"text": "a", "text": "b"}]}`, `has the field "text" twice`},
		} {
			if text, _, refused := coder.try(c.tool, json.RawMessage(c.args)); !refused || !strings.Contains(text, c.says) {
				t.Errorf("%s %s was taken: %s", c.tool, c.args, text)
			}
		}
		if text, _ := coder.call("status", m{}); !strings.Contains(text, "No open tasks.") {
			t.Errorf("something was made: %s", text)
		}
	})
}

func TestASessionIsItsPrincipalsAlone(t *testing.T) {
	h := open(t)
	coder := h.agent(sessionVersion, "coder")
	thief := h.token("thief")
	s := httptest.NewServer(h.api)
	t.Cleanup(s.Close)
	list := func(token, session string) (int, string) {
		return post(t, s.URL+"/mcp", token, `{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`, "Mcp-Protocol-Version: "+sessionVersion, "Mcp-Session-Id: "+session)
	}
	none, nothing := list(thief, "never-was")
	if none != http.StatusNotFound {
		t.Fatalf("a session that never was: %d %s", none, nothing)
	}
	elsewhere, err := admin.New(h.admin).CreateWorkspace(t.Context(), admin.WorkspaceInput{Name: "elsewhere", Role: client.RoleOperator, Bearer: "coder"})
	if err != nil {
		t.Fatal(err)
	}
	for who, token := range map[string]string{
		"another": thief, "one of another workspace": elsewhere.Token.Text, "the same agent with a person at its client": h.tokenAt("coder", "ann"),
	} {
		if status, answer := list(token, coder.ID()); status != none || answer != nothing {
			t.Errorf("to %s the session is not as one that never was: %d %.300s", who, status, answer)
		}
	}
	if status, answer := list(h.tokenAt("coder", ""), coder.ID()); status != http.StatusOK {
		t.Errorf("with a new token of its own the session does not go on: %d %.300s", status, answer)
	}
	coder.call("status", m{}) // nothing was taken from it
}

func TestARevokedTokenCountsNoMore(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		coder := h.agent(version, "coder")
		coder.call("status", m{})
		h.revoke("coder")
		if _, err := coder.CallTool(t.Context(), &mcp.CallToolParams{Name: "status"}); err == nil {
			t.Error("a revoked token still counts")
		}
	})
}

func TestAnotherWorkspaceIsAnotherWorld(t *testing.T) {
	h := open(t)
	coder := h.agent(statelessVersion, "coder")
	_, task := coder.call("send", m{"intent": "Write the parser"})
	foreign, err := admin.New(h.admin).CreateWorkspace(t.Context(), admin.WorkspaceInput{Name: "elsewhere", Role: client.RoleOperator, Bearer: "boss"})
	if err != nil {
		t.Fatal(err)
	}
	other := h.connect(statelessVersion, "boss", foreign.Token.Text, nil)
	if text, _, refused := other.try("status", m{"id": task["task"]}); !refused {
		t.Errorf("a task of another workspace was seen: %s", text)
	}
	text, _ := other.call("join", m{})
	if strings.Contains(text, "coder") {
		t.Errorf("an agent of another workspace was seen: %s", text)
	}
}

func TestEveryToolSaysWhatItGivesAndWhatItDoes(t *testing.T) {
	h := open(t)
	coder := h.agent(statelessVersion, "coder")
	list, err := coder.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if tool.OutputSchema == nil && readTools[tool.Name] {
			tool.OutputSchema = m{"type": "object"}
		}
		b, err := json.Marshal(tool.OutputSchema)
		if err != nil || !strings.Contains(string(b), `"object"`) {
			t.Errorf("%s has no output schema: %s, %v", tool.Name, b, err)
		}
		if a := tool.Annotations; a == nil || a.DestructiveHint == nil || a.OpenWorldHint == nil || a.Title == "" {
			t.Errorf("%s says too little about itself: %+v", tool.Name, a)
		}
	}
}

func TestAStreamEndsWithItsToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		token := h.token("coder")
		server := bearer{token, inprocess.Transport(h.api)}
		do := func(method, body, session string) *http.Response {
			r, err := http.NewRequestWithContext(t.Context(), method, "http://localhost/mcp", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			r.Header.Set("Mcp-Protocol-Version", sessionVersion)
			if session != "" {
				r.Header.Set("Mcp-Session-Id", session)
			}
			res, err := server.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			return res
		}
		hello := do(http.MethodPost, `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "`+sessionVersion+
			`", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}}`, "")
		_, _ = io.Copy(io.Discard, hello.Body)
		_ = hello.Body.Close()
		session := hello.Header.Get("Mcp-Session-Id")
		stream := do(http.MethodGet, "", session)
		defer func() { _ = stream.Body.Close() }()
		ended := make(chan struct{})
		go func() {
			_, _ = io.Copy(io.Discard, stream.Body)
			close(ended)
		}()
		time.Sleep(time.Minute)
		select {
		case <-ended:
			t.Fatal("the stream ended while its token counted")
		default:
		}
		h.revoke("coder")
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Error("the stream goes on without its token")
		}
		time.Sleep(13 * time.Hour) // nobody can do anything in the session, and it is forgotten
	})
}

func TestATokenHasSoManyStreamsOpenAndNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		server := bearer{h.token("coder"), inprocess.Transport(h.api)}
		var ends []func()
		defer func() {
			for _, end := range ends {
				end()
			}
		}()
		listen := func(method string) (status int, end func()) {
			ctx, cancel := context.WithCancel(t.Context())
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/mcp", strings.NewReader(
				`{"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {"notifications": {"resourceSubscriptions": ["trapeze://inbox"]}, "_meta": {`+
					`"io.modelcontextprotocol/protocolVersion": "`+statelessVersion+`", "io.modelcontextprotocol/clientCapabilities": {}}}}`))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			r.Header.Set("Mcp-Protocol-Version", statelessVersion)
			r.Header.Set("Mcp-Method", method)
			res, err := server.RoundTrip(r) //nolint:bodyclose // end closes it
			if err != nil {
				t.Fatal(err)
			}
			end = func() { cancel(); _ = res.Body.Close(); synctest.Wait() }
			ends = append(ends, end)
			return res.StatusCode, end
		}
		var last func()
		for n := range 64 {
			status, end := listen("subscriptions/listen")
			if last = end; status != http.StatusOK {
				t.Fatalf("stream %d: %d", n, status)
			}
		}
		status, end := listen("subscriptions/listen")
		if end(); status != http.StatusTooManyRequests {
			t.Errorf("one more: %d", status)
		}
		status, end = listen("tools/list")
		if end(); status != http.StatusBadRequest {
			t.Errorf("one under another name: %d", status)
		}
		last()
		status, end = listen("subscriptions/listen")
		if end(); status != http.StatusOK {
			t.Errorf("one in the place of another: %d", status)
		}
	})
}
