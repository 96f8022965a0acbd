package mcpapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/api/inprocess"
)

// conversing is a session of a version of the older protocol; what it gives posts a body in it.
func (h *harness) conversing(version string) func(body string) (status int, text string) {
	h.t.Helper()
	server, session := bearer{h.token("coder"), inprocess.Transport(h.api)}, ""
	post := func(body string) (int, string) {
		h.t.Helper()
		r, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, "http://localhost/mcp", strings.NewReader(body))
		if err != nil {
			h.t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
			r.Header.Set("Mcp-Protocol-Version", version)
		}
		res, err := server.RoundTrip(r)
		if err != nil {
			h.t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		if id := res.Header.Get("Mcp-Session-Id"); id != "" {
			session = id
		}
		text, err := io.ReadAll(res.Body)
		if err != nil {
			h.t.Fatal(err)
		}
		return res.StatusCode, string(text)
	}
	hello := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"me","version":"1"}}}`
	if status, text := post(hello); status != http.StatusOK || !strings.Contains(text, `"protocolVersion":"`+version+`"`) {
		h.t.Fatalf("%d %s", status, text)
	}
	if status, text := post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`); status != http.StatusAccepted {
		h.t.Fatalf("%d %s", status, text)
	}
	return post
}

func TestABatchIsTakenWhereTheProtocolHasThem(t *testing.T) {
	h := open(t)
	post := h.conversing("2025-03-26")
	status, text := post(`[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","method":"notifications/roots/list_changed"},` +
		`{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"status","arguments":{}}}]`)
	answered := map[string]bool{}
	for line := range strings.Lines(text) { // each answer is an event of the stream
		data, is := strings.CutPrefix(line, "data: ")
		var m struct {
			ID     string          `json:"id"`
			Result json.RawMessage `json:"result"`
		}
		if is && json.Unmarshal([]byte(data), &m) == nil && m.Result != nil {
			answered[m.ID] = true
		}
	}
	if got := slices.Sorted(maps.Keys(answered)); status != http.StatusOK || !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%d %s", status, text)
	}
	for body, want := range map[string]int{
		`[{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}]`: http.StatusAccepted,
		`[]`:                     http.StatusBadRequest,
		`[1]`:                    http.StatusBadRequest,
		pings(257):               http.StatusBadRequest,
		pings(257) + " and more": http.StatusBadRequest,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`: http.StatusBadRequest,
		pings(256): http.StatusOK,
	} {
		if status, text := post(body); status != want {
			t.Errorf("%.60s: %d %.300s", body, status, text)
		}
	}
}

func TestABatchIsRefusedWhereTheProtocolHasNone(t *testing.T) {
	for _, version := range []string{"2025-06-18", "2025-11-25"} {
		post := open(t).conversing(version)
		if status, text := post(pings(2)); status != http.StatusBadRequest || !strings.Contains(text, "batching is not supported") {
			t.Errorf("%s: %d %s", version, status, text)
		}
	}
}

// pings is a batch of so many.
func pings(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i))
	}
	return "[" + strings.Join(all, ",") + "]"
}
