package cli_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/trapezehq/trapeze/client"
)

// batched is the last version of the protocol with batches.
const batched = "2025-03-26"

// answers reads a line with the answers to a batch: results by ID, and the codes of errors without an ID.
func (s *stdioSession) answers() (by map[string]m, nameless []float64) {
	s.Helper()
	var all []m
	s.read(&all)
	by = map[string]m{}
	for _, a := range all {
		if id, there := a["id"]; a["jsonrpc"] != "2.0" || !there {
			s.Fatalf("no answer: %v", a)
		} else if id != nil {
			by[fmt.Sprint(id)] = a
			continue
		}
		nameless = append(nameless, a["error"].(m)["code"].(float64))
	}
	if len(by)+len(nameless) != len(all) {
		s.Fatalf("an id is there twice: %v", all)
	}
	return by, nameless
}

func ping(id string) string { return `{"jsonrpc":"2.0","id":"` + id + `","method":"ping"}` }

func TestABatchIsAnsweredInOneLine(t *testing.T) {
	withServer(t, func(h *testServer) {
		s := h.open("coder", client.AgentSpec{}).greetIn(batched)
		s.line(`[` + ping("a") + `, {"jsonrpc":"2.0","method":"notifications/roots/list_changed"}, {"jsonrpc":"2.0","id":3,"method":"tools/call",` +
			`"params":{"name":"join","arguments":{}}}, {"jsonrpc":"2.0","id":"no","method":"nonsense"}]`)
		by, nameless := s.answers()
		if got := slices.Sorted(maps.Keys(by)); !slices.Equal(got, []string{"3", "a", "no"}) || nameless != nil {
			h.Errorf("%v, %v", by, nameless)
		}
		if by["a"]["result"] == nil || by["3"]["result"] == nil || by["no"]["error"] == nil {
			h.Errorf("%v", by)
		}
		s.line(`[` + ping("a") + `]`) // its id is free again
		if by, _ := s.answers(); len(by) != 1 || by["a"]["result"] == nil {
			h.Errorf("a batch of one: %v", by)
		}
		s.leave()
	})
}

func TestABatchOfNotificationsIsNotAnswered(t *testing.T) {
	withServer(t, func(h *testServer) {
		s := h.open("coder", client.AgentSpec{}).greetIn(batched)
		s.line(`[{"jsonrpc":"2.0","method":"notifications/roots/list_changed"},{"jsonrpc":"2.0","id":99,"result":{}}]`)
		s.line(ping("next"))
		if got := s.next(); got["id"] != "next" {
			h.Errorf("it was answered with %v", got)
		}
		s.leave()
	})
}

func TestWhatIsBrokenInABatchIsRefusedInItsAnswer(t *testing.T) {
	withServer(t, func(h *testServer) {
		s := h.open("coder", client.AgentSpec{}).greetIn(batched)
		s.line(`[1, [], {}, ` + ping("a") + `, ` + ping("a") + `, {"jsonrpc":"1.0","id":"old","method":"ping"}, ` +
			`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{}}]`)
		by, nameless := s.answers()
		if !slices.Equal(nameless, []float64{noMessage, noMessage, noMessage, noMessage}) {
			h.Errorf("what has no id of its own is refused with %v", nameless)
		}
		for _, id := range []string{"old", "hello"} {
			if e, _ := by[id]["error"].(m); e["code"] != float64(noMessage) {
				h.Errorf("%s: %v", id, by[id])
			}
		}
		if by["a"]["result"] == nil {
			h.Errorf("what is right in it: %v", by["a"])
		}
		for text, says := range map[string]string{
			`[]`: "at least one",
			`[` + strings.Repeat(ping("x")+",", 256) + ping("x") + `]`: "at most 256",
		} {
			s.line(text)
			if got := s.next(); got["id"] != nil || !strings.Contains(fmt.Sprint(got["error"]), says) {
				h.Errorf("%.40s: %v", text, got)
			}
		}
		s.line(`[1]`)
		if by, nameless := s.answers(); len(by) != 0 || len(nameless) != 1 {
			h.Errorf("nothing right: %v, %v", by, nameless)
		}
		s.leave()
	})
}

func TestABatchCountsAmongTheCallsThatAreOpen(t *testing.T) {
	withServer(t, func(h *testServer) {
		s := h.open("coder", client.AgentSpec{}).greetIn(batched)
		for range 255 {
			s.ask("inbox", m{"wait": 50})
		}
		synctest.Wait()
		s.line(`[` + ping("fits") + `,` + ping("over") + `]`)
		by, _ := s.answers()
		if e, _ := by["over"]["error"].(m); by["fits"]["result"] == nil || e["code"] != float64(tooMany) {
			h.Errorf("%v", by)
		}
		s.leave()
	})
}

func TestOnlyTheVersionsThatHaveBatchesTakeThem(t *testing.T) {
	withServer(t, func(h *testServer) {
		for version, taken := range map[string]bool{"2024-11-05": true, batched: true, "2025-06-18": false, "2025-11-25": false, "": false} {
			s := h.begin("coder", h.token("coder", client.AgentSpec{}))
			if version != "" {
				s.greetIn(version)
			}
			s.line(`[` + ping("a") + `]`)
			if taken {
				s.answers()
			} else if got := s.next(); !strings.Contains(fmt.Sprint(got["error"]), "each message on a line of its own") {
				h.Errorf("%s: %v", version, got)
			}
			s.leave()
		}
	})
}

func TestABatchThatTheInputEndsWithIsAnswered(t *testing.T) {
	withServer(t, func(h *testServer) {
		s := h.open("coder", client.AgentSpec{}).greetIn(batched)
		s.line(`[` + ping("a") + `,` + ping("b") + `]`)
		h.must(s.in.Close())
		if by, _ := s.answers(); len(by) != 2 {
			h.Errorf("%v", by)
		}
		s.ended()
	})
}
