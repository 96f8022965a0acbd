package cli_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi"
)

// Codes of the answers to lines that are not messages.
const (
	noJSON    = -32700
	noMessage = -32600
	tooMany   = -32603
)

func TestNoLineEndsASession(t *testing.T) {
	withServer(t, func(h *testServer) {
		s := h.open("coder", client.AgentSpec{}).greet()
		for _, c := range []struct {
			line, says string
			code       float64
			id         any
		}{
			{`Content-Length: 12`, "not JSON", noJSON, nil},
			{`{"jsonrpc":"2.0","id":1,"method":"ping"`, "not JSON", noJSON, nil},
			{`{"jsonrpc":"2.0","id":1,"method":"ping"} {}`, "not JSON", noJSON, nil},
			{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi\xffng\"}", "not UTF-8", noJSON, nil},
			{"\x00\x01\x02", "not JSON", noJSON, nil},
			{strings.Repeat("[", 20_000), "not JSON", noJSON, nil},
			{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "each message on a line of its own", noMessage, nil},
			{`[]`, "each message on a line of its own", noMessage, nil},
			{`"ping"`, "a JSON object", noMessage, nil},
			{`null`, "a JSON object", noMessage, nil},
			{`{}`, "not a JSON-RPC 2.0 message", noMessage, nil},
			{`{"jsonrpc":"1.0","id":5,"method":"ping"}`, "not a JSON-RPC 2.0 message", noMessage, 5.0},
			{`{"jsonrpc":"2.0","id":"x","method":7}`, "not a JSON-RPC 2.0 message", noMessage, "x"},
			{`{"jsonrpc":"2.0","id":5,"method":"ping","params":` + strings.Repeat(`{"a":`, 2000) + "1" + strings.Repeat("}", 2001), "not a JSON-RPC 2.0 message", noMessage, 5.0},
			{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, "an id must be", noMessage, nil},
			{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "an id must be", noMessage, nil},
			{`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, "an id must be", noMessage, nil},
			{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, "an id must be", noMessage, nil},
			{long(mcpapi.MaxBody + 1), "is larger than", noMessage, nil},
			{strings.Repeat("x", 10<<20), "is larger than", noMessage, nil},
		} {
			s.line(c.line)
			got := s.next()
			fault, _ := got["error"].(m)
			text, _ := fault["message"].(string)
			id, there := got["id"]
			if fault["code"] != c.code || !strings.Contains(text, c.says) || !there || id != c.id || len(text) > 500 {
				h.Errorf("%.60q is answered with %v", c.line, got)
			}
		}
		for _, fine := range []string{"\n \n\t\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r", long(mcpapi.MaxBody)} {
			s.line(fine)
			if got := s.next(); got["id"] != 1.0 || got["result"] == nil {
				h.Errorf("%.60q is answered with %v", fine, got)
			}
		}
		s.line(`{"jsonrpc":"2.0","id":99,"result":{}}`) // to a question that nobody asked
		s.call("join", m{})
		s.leave()
		if said := s.said.String(); strings.Count(said, "refused a line of the input") != 1 {
			h.Errorf("it said: %s", said)
		}
	})
}

// long is a ping of the given size, in bytes.
func long(size int) string {
	const begin, end = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"x":"`, `"}}}`
	return begin + strings.Repeat("y", size-len(begin)-len(end)) + end
}

func TestAnInputThatEndsInTheMiddleOfALine(t *testing.T) {
	withServer(t, func(h *testServer) {
		for text, whole := range map[string]bool{`{"jsonrpc":"2.0","id":1,"method":"ping"}`: true, `{"jsonrpc":"2.0","id":1,"meth`: false} {
			s := h.begin("coder", h.token("coder", client.AgentSpec{})).greet()
			_, err := s.in.Write([]byte(text))
			h.must(err)
			h.must(s.in.Close())
			if got := s.next(); (got["result"] != nil) != whole || (got["error"] == nil) != whole {
				h.Errorf("%s is answered with %v", text, got)
			}
			s.ended()
		}
	})
}

func TestCallsAreBoundedAndHaveIdsOfTheirOwn(t *testing.T) {
	withServer(t, func(h *testServer) {
		s := h.open("coder", client.AgentSpec{}).greet()
		const most = 256
		for range most {
			s.ask("inbox", m{"wait": 50})
		}
		synctest.Wait()
		refused := func(id string, code float64, answered any) {
			h.Helper()
			s.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"ping"}`, id))
			if got := s.next(); got["error"] == nil || got["error"].(m)["code"] != code || got["id"] != answered {
				h.Errorf("%s: %v", id, got)
			}
		}
		refused("c7", noMessage, nil)
		refused("new", tooMany, "new")
		s.line(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c7"}}`)
		s.answer("c7")
		s.line(`{"jsonrpc":"2.0","id":"c7","method":"ping"}`)
		if got := s.next(); got["id"] != "c7" || got["result"] == nil {
			h.Errorf("after the answer: %v", got)
		}
		s.leave()
	})
}
