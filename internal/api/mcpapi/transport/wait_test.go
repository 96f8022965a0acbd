package transport_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/internal/api/mcpapi/toolset"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/transport"
)

// waiting is the message of a call that waits; more is added to its _meta.
func waiting(more string) string {
	return `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "whoami", "arguments": {"seconds": 0}, "_meta": {` +
		`"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}` + more + `}}}`
}

// wait sends a message of the version without sessions, and returns the answer and after how long it came.
func (h *harness) wait(ctx context.Context, token, tool, body string) (reply, time.Duration) {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/mcp", strings.NewReader(body))
	for name, value := range map[string]string{
		"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool,
	} {
		r.Header.Set(name, value)
	}
	w, began := httptest.NewRecorder(), time.Now()
	h.handler.ServeHTTP(w, r)
	return reply{status: w.Code, body: w.Body.String()}, time.Since(began)
}

func TestACallWaitsBeforeTheServerHasIt(t *testing.T) {
	stopping, stop := context.WithCancel(t.Context())
	defer stop()
	o := transport.Options{
		Stopping: func() context.Context { return stopping },
		Waits: func(p *mcp.CallToolParamsRaw, _ toolset.Set) (transport.Wait, bool) {
			return transport.Wait{Path: "/v1/inbox?wait=50s", Most: 50 * time.Second}, p.Name == "whoami"
		},
	}
	run(t, o, func(t *testing.T, h *harness) {
		token := h.token("t", coder)
		for _, c := range []struct {
			name, tool, body, want string
			nothing                bool   // the API has something at once
			happens                func() // after 5 s
			took                   time.Duration
			asked, left            int
		}{
			{name: "nothing comes", tool: "whoami", body: waiting(""), want: "after 50s", took: 50 * time.Second, asked: 1, left: 1},
			{name: "something comes", tool: "whoami", body: waiting(""), want: "after 5s", happens: func() { h.come(true) }, took: 5 * time.Second, asked: 2, left: 1},
			{name: "another was faster", tool: "whoami", body: waiting(""), want: "after 50s", happens: func() { h.come(false) }, took: 50 * time.Second, asked: 2, left: 2},
			{name: "something is there", tool: "whoami", body: waiting(""), want: "after 0s", nothing: true, asked: 1},
			{name: "the client wants to be told of progress", tool: "whoami", body: waiting(`, "progressToken": 1`), want: `"text":"t"`},
			{name: "the header names another tool", tool: "fly", body: waiting(""), want: "header"},
			{name: "the token is revoked", tool: "whoami", body: waiting(""), happens: func() { h.revoke("secret-t") }, took: 15 * time.Second, asked: 1, left: 1},
			{name: "the server is drained", tool: "whoami", body: waiting(""), want: "after 5s", happens: stop, took: 5 * time.Second, asked: 1, left: 1},
		} {
			h.token("t", coder)
			h.asked, h.left, h.changed = nil, 0, make(chan struct{}, 1)
			if c.nothing {
				h.changed = nil
			}
			if c.happens != nil {
				time.AfterFunc(5*time.Second, c.happens)
			}
			got, took := h.wait(t.Context(), token, c.tool, c.body)
			if !strings.Contains(got.body, c.want) || took != c.took || len(h.asked) != c.asked || h.left != c.left {
				t.Errorf("%s: %q after %s, %d asked and %d left; want %q after %s, %d and %d", c.name, got.body, took, len(h.asked), h.left, c.want, c.took, c.asked, c.left)
			}
		}
		if want := []string{"/v1/inbox?wait=50s"}; !slices.Equal(h.asked, want) {
			t.Errorf("the API was asked %q, want %q", h.asked, want)
		}
	})
}

// TestAPrincipalThatWaitsHasNoServer counts the servers that are made: it is none for each message, and another after a wait.
func TestAPrincipalThatWaitsHasNoServer(t *testing.T) {
	o := transport.Options{Waits: func(p *mcp.CallToolParamsRaw, _ toolset.Set) (transport.Wait, bool) {
		return transport.Wait{Path: "/v1/inbox?wait=50s", Most: 50 * time.Second}, p.Name == "whoami"
	}}
	run(t, o, func(t *testing.T, h *harness) {
		one, other := h.token("t", coder), h.token("o", agent("other"))
		made := func(what string, want int, do func()) {
			t.Helper()
			before := len(h.clients)
			if do(); len(h.clients)-before != want {
				t.Errorf("%s: %d servers were made, want %d", what, len(h.clients)-before, want)
			}
		}
		wait := func(token string, want int) {
			h.changed = make(chan struct{}, 1)
			if got, _ := h.wait(t.Context(), token, "whoami", waiting("")); got.status != want {
				t.Errorf("a call that waits: %d %s, want %d", got.status, got.body, want)
			}
			h.changed = nil
		}
		made("the first message", 1, func() { h.wait(t.Context(), one, "whoami", waiting("")) })
		made("the second", 0, func() { h.wait(t.Context(), one, "whoami", waiting("")) })
		made("one that waits", 1, func() { wait(one, http.StatusOK) })

		session := h.session(other)
		made("one that waits beside a session", 0, func() { wait(other, http.StatusOK) })
		if r := h.send(other, session, whoami(2, 0)); r.status != http.StatusOK {
			t.Errorf("the session after that: %d %s", r.status, r.body)
		}

		gone, leave := context.WithCancel(t.Context())
		h.changed = make(chan struct{}, 1)
		time.AfterFunc(5*time.Second, leave)
		made("one whose client is gone", 0, func() { h.wait(gone, one, "whoami", waiting("")) })
		if h.left == 0 {
			t.Error("it waits in the API still")
		}
	})
}

// come wakes the message that waits; mine says that there is something for it.
func (h *harness) come(mine bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.changed <- struct{}{}
	if mine {
		h.changed = nil
	}
}

func TestACallWhoseClientGoesWaitsNoLonger(t *testing.T) {
	o := transport.Options{Waits: func(*mcp.CallToolParamsRaw, toolset.Set) (transport.Wait, bool) {
		return transport.Wait{Path: "/v1/inbox?wait=50s", Most: 50 * time.Second}, true
	}}
	run(t, o, func(t *testing.T, h *harness) {
		h.changed = make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Second, cancel)
		if _, took := h.wait(ctx, h.token("t", coder), "whoami", waiting("")); took != 5*time.Second {
			t.Errorf("it ended after %s", took)
		}
		synctest.Wait()
		if h.left != 1 {
			t.Errorf("%d have left", h.left)
		}
	})
}
