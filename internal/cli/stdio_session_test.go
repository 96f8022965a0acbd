package cli_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/stdio"
)

func TestATaskGoesFromOneSessionToAnother(t *testing.T) {
	withServer(t, func(h *testServer) {
		lead, coder := h.open("lead", client.AgentSpec{}).greet(), h.open("coder", client.AgentSpec{}).greet()
		lead.call("join", m{})
		coder.call("join", m{})
		waiting := coder.ask("inbox", m{"wait": 45})
		sent := lead.call("send", m{"intent": "fix the login", "to": "coder"})
		_, box, _ := coder.answer(waiting)
		offer := box["items"].([]any)[0].(m)["id"]
		if got := coder.call("accept", m{"handoff": offer}); !strings.Contains(got["text"].(string), "fix the login") {
			h.Errorf("the context is %v", got["text"])
		}
		coder.call("complete", m{"task": sent["task"], "text": "it closes again"})
		if now := lead.call("status", m{"id": sent["task"]}); now["task"].(m)["result"].(m)["text"] != "it closes again" {
			h.Errorf("the result is %v", now)
		}
		lead.leave()
		coder.leave()
	})
}

func TestASessionOfTheNewerProtocolNeedsNoGreeting(t *testing.T) {
	withServer(t, func(h *testServer) {
		s := h.open("coder", client.AgentSpec{})
		s.line(`{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`)
		r := s.next()
		if tools := r["result"].(m)["tools"].([]any); r["id"] != 7.0 || len(tools) != 16 {
			h.Errorf("%v: %d tools", r["id"], len(tools))
		}
		s.leave()
	})
}

func TestASessionSpeaksAsItsAgentOrNotAtAll(t *testing.T) {
	withServer(t, func(h *testServer) {
		h.token("coder", client.AgentSpec{})
		for _, token := range []string{h.owner, h.token("other", client.AgentSpec{})} {
			err := stdio.Run(h.Context(), h.as(token), stdio.Options{Agent: "coder", In: strings.NewReader(""), Out: io.Discard})
			if !errors.Is(err, stdio.ErrNotAgent) {
				h.Errorf("it began: %v", err)
			}
		}
		err := stdio.Run(h.Context(), h.as("tz_nonsense"), stdio.Options{Agent: "coder", In: strings.NewReader(""), Out: io.Discard})
		if !errors.Is(err, client.Unauthenticated) {
			h.Errorf("it began: %v", err)
		}
	})
}

func TestTheEndOfTheInputAnswersWhatWaits(t *testing.T) {
	withServer(t, func(h *testServer) {
		s := h.open("coder", client.AgentSpec{}).greet()
		id := s.ask("inbox", m{"wait": 50})
		synctest.Wait()
		h.must(s.in.Close())
		s.stopped(id)
	})
}

func TestWhatIsAskedBeforeTheInputEndsIsAnswered(t *testing.T) {
	withServer(t, func(h *testServer) {
		s := h.open("coder", client.AgentSpec{}).greet()
		id := s.ask("join", m{})
		h.must(s.in.Close())
		if _, _, refused := s.answer(id); refused {
			h.Error("it was refused")
		}
		s.ended()
	})
}

func TestAskedToEndItAnswersWhatWaitsAndEnds(t *testing.T) {
	withServer(t, func(h *testServer) {
		s := h.open("coder", client.AgentSpec{}).greet()
		id := s.ask("inbox", m{"wait": 50})
		synctest.Wait()
		s.cancel()
		s.stopped(id)
	})
}

func TestATaskThatWasMadeIsKeptUntilItIsSentOrDone(t *testing.T) {
	withServer(t, func(h *testServer) {
		lead, coder := h.open("lead", client.AgentSpec{}).greet(), h.open("coder", client.AgentSpec{}).greet()
		done := lead.call("send", m{"intent": "sweep"})["task"].(string)
		sent := lead.call("send", m{"intent": "paint"})["task"].(string)
		time.Sleep(time.Hour)
		for _, id := range []string{done, sent} {
			if now := h.task(id); now.Owner != "lead" || now.State != client.Executing {
				h.Errorf("%s has %q (%s)", now.Owner, now.Intent, now.State)
			}
		}
		lead.call("complete", m{"task": done, "text": "clean"})
		lead.call("send", m{"task": sent, "to": "coder"})
		offer := coder.offered()
		coder.call("accept", m{"handoff": offer})
		coder.killed()
		time.Sleep(time.Hour) // the coder's lease ends, whatever the lead's session does
		if now := h.task(sent); now.State == client.Executing && now.Owner == "coder" {
			h.Errorf("somebody keeps it: %s (%s)", now.Owner, now.State)
		}
		lead.leave()
		if said := lead.said.String(); strings.Count(said, "not kept any more") > 1 {
			h.Errorf("it said: %s", said)
		}
	})
}

func TestReadingATaskDoesNotRenewItsLease(t *testing.T) {
	withServer(t, func(h *testServer) {
		token := h.token("coder", client.AgentSpec{})
		first, second := h.begin("coder", token).greet(), h.begin("coder", token).greet()
		task := first.call("send", m{"intent": "sweep"})["task"].(string)
		second.call("status", m{"id": task})
		epoch := h.task(task).Epoch
		first.killed()
		time.Sleep(time.Hour)
		if now := h.task(task); now.State == client.Executing && now.Epoch == epoch {
			h.Errorf("it is kept: %s has it", now.Owner)
		}
		second.leave()
	})
}
