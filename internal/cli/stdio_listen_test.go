package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// able is the metadata of each message of a client of the newer protocol that supports tasks.
var able = m{
	"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
	"io.modelcontextprotocol/clientCapabilities": m{"extensions": m{"io.modelcontextprotocol/tasks": m{}}},
}

// says writes a message of the newer protocol.
func (s *stdioSession) says(id, method string, params m) {
	s.Helper()
	params["_meta"] = able
	b, err := json.Marshal(m{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	s.must(err)
	s.line(string(b))
}

// question asks the operators about a new task, and returns the handle of the answer: the ticket.
func (s *stdioSession) question(id, text string) (handle string) {
	s.Helper()
	task := s.call("send", m{"intent": "fix the login"})["task"]
	s.says(id, "tools/call", m{"name": "ask", "arguments": m{"task": task, "question": text, "wait": 50}})
	got, _ := s.next()["result"].(m)
	handle, _ = got["taskId"].(string)
	if handle == "" {
		s.Fatalf("no handle: %v", got)
	}
	return handle
}

// listens subscribes to handles.
func (s *stdioSession) listens(id string, handles ...string) {
	s.Helper()
	s.says(id, "subscriptions/listen", m{"notifications": m{"taskIds": handles}})
}

// hears checks the next message of a stream, in a short form.
func (s *stdioSession) hears(want string) {
	s.Helper()
	got := s.next()
	if said := short(got); said != want {
		s.Fatalf("it says %s where it should %s: %v", said, want, got)
	}
}

func short(got m) string {
	params, _ := got["params"].(m)
	meta, _ := params["_meta"].(m)
	switch of := meta["io.modelcontextprotocol/subscriptionId"]; {
	case got["error"] != nil:
		return fmt.Sprint(got["id"], " refused ", got["error"].(m)["code"])
	case params == nil:
		return fmt.Sprint(got["id"], " ends")
	case params["taskId"] != nil:
		return fmt.Sprint(of, " is ", params["status"])
	default:
		return fmt.Sprint(of, " begins")
	}
}

func (h *testServer) answers(ticket string) {
	h.Helper()
	_, err := h.as(h.owner).Answer(context.Background(), ticket, client.AnswerInput{Answer: "the left one"})
	h.must(err)
}

func TestASessionIsToldWhenWhatItWaitsForHasCome(t *testing.T) {
	withServer(t, func(h *testServer) {
		s := h.open("coder", client.AgentSpec{}).greet()
		first, second := s.question("q1", "Which hinge?"), s.question("q2", "Which screw?")
		s.listens("one", first)
		s.hears("one begins")
		s.hears("one is working")
		s.listens("other", second)
		s.hears("other begins")
		s.hears("other is working")
		time.Sleep(10 * time.Minute)
		h.answers(second)
		got := s.next()
		if said, text := short(got), fmt.Sprint(got); said != "other is completed" || !strings.Contains(text, "the left one") {
			h.Fatalf("%s: %s", said, text)
		}
		s.hears("other ends")
		h.answers(first)
		s.hears("one is completed")
		s.hears("one ends")
		s.call("status", m{}) // and the session goes on
		s.leave()
	})
}
