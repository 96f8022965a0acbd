//go:build slow

package cli_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/client"
)

func TestAClientThatDoesNotReadDoesNotBlockTheEnd(t *testing.T) {
	withServer(t, func(h *testServer) {
		for _, end := range []func(*stdioSession){func(s *stdioSession) { s.cancel() }, func(s *stdioSession) { h.must(s.in.Close()) }} {
			s := h.begin("coder", h.token("coder", client.AgentSpec{})).greet()
			s.ask("join", m{})
			synctest.Wait() // it stands with its answer
			end(s)
			s.ended()
		}
	})
}

func TestATaskIsKeptWhileItsSessionLives(t *testing.T) {
	withServer(t, func(h *testServer) {
		lead, coder := h.open("lead", client.AgentSpec{}).greet(), h.open("coder", client.AgentSpec{}).greet()
		task := lead.call("send", m{"intent": "fix the login", "to": "coder"})["task"].(string)
		offer := coder.offered()
		coder.call("accept", m{"handoff": offer})
		before := h.task(task)
		time.Sleep(6 * time.Hour) // a long turn
		now := h.task(task)
		if now.Owner != "coder" || now.Epoch != before.Epoch || now.State != client.Executing {
			h.Fatalf("after a long turn %s has it (%s, epoch %d)", now.Owner, now.State, now.Epoch)
		}
		coder.killed()
		time.Sleep(time.Until(now.Lease) + 2*time.Minute)
		if now = h.task(task); now.State == client.Executing && now.Owner == "coder" {
			h.Errorf("nobody has noticed: %s has it (%s)", now.Owner, now.State)
		}
		lead.leave()
	})
}

func TestATaskThatItsOwnerLetsGoOfLaterIsKeptFromWhenItIsSeen(t *testing.T) {
	withServer(t, func(h *testServer) {
		lead, coder := h.open("lead", client.AgentSpec{}).greet(), h.open("coder", client.AgentSpec{}).greet()
		task := lead.call("send", m{"intent": "fix the login", "to": "coder", "confirm": true})["task"].(string)
		offer := coder.offered()
		coder.call("accept", m{"handoff": offer})
		lead.call("decide", m{"id": offer, "verdict": "confirm"})
		coder.call("status", m{"id": task})
		time.Sleep(time.Hour)
		if now := h.task(task); now.Owner != "coder" || now.State != client.Executing {
			h.Errorf("%s has it (%s)", now.Owner, now.State)
		}
		lead.leave()
		coder.leave()
	})
}

func TestAnAgentIsPresentWhileItsSessionLives(t *testing.T) {
	withServer(t, func(h *testServer) {
		s := h.open("coder", client.AgentSpec{PresenceTTL: client.Duration(10 * time.Second)}).greet()
		s.call("join", m{})
		readiness := func() client.Readiness {
			a, err := h.as(h.owner).Agent(context.Background(), "coder")
			h.must(err)
			return a.Readiness
		}
		time.Sleep(time.Hour)
		if r := readiness(); r != client.Ready {
			h.Errorf("it is %s", r)
		}
		s.leave()
		time.Sleep(time.Minute)
		if r := readiness(); r != client.Offline {
			h.Errorf("its client is gone, and it is %s", r)
		}
	})
}

func TestASessionSurvivesARestartOfTheServer(t *testing.T) {
	withServer(t, func(h *testServer) {
		lead, coder := h.open("lead", client.AgentSpec{}).greet(), h.open("coder", client.AgentSpec{}).greet()
		mine := coder.call("send", m{"intent": "sweep"})["task"].(string)
		waiting := coder.ask("inbox", m{"wait": 45})
		synctest.Wait()
		h.stop()
		text, _, refused := lead.answer(lead.ask("join", m{}))
		if !refused || !strings.HasPrefix(text, "unavailable: the server cannot be reached") || !strings.Contains(text, "call again") ||
			!strings.Contains(text, "trapeze doctor") || !strings.Contains(text, "trapeze serve --background") {
			h.Errorf("while it is away: %s", text)
		}
		time.Sleep(15 * time.Second)
		h.start()
		sent := lead.call("send", m{"intent": "fix the login", "to": "coder"})
		_, box, refused := coder.answer(waiting)
		if items, _ := box["items"].([]any); refused || len(items) != 1 || items[0].(m)["task"] != sent["task"] {
			h.Errorf("what was waited for is %v", box)
		}
		h.stop()
		time.Sleep(time.Minute)
		h.start()
		time.Sleep(time.Hour)
		if now := h.task(mine); now.Owner != "coder" || now.State != client.Executing {
			h.Errorf("%s has it (%s)", now.Owner, now.State)
		}
		lead.leave()
		coder.leave()
		if said := coder.said.String(); strings.Count(said, "cannot be reached") != 1 || strings.Count(said, "is back") != 1 {
			h.Errorf("it said: %s", said)
		}
	})
}

func TestACallThatIsMadeWhileTheServerRestartsIsAnswered(t *testing.T) {
	withServer(t, func(h *testServer) {
		s := h.open("coder", client.AgentSpec{}).greet()
		for range 2 { // each restart has all of the time
			h.stop()
			id := s.ask("send", m{"intent": "sweep"})
			time.Sleep(20 * time.Second)
			h.start()
			if text, _, refused := s.answer(id); refused {
				h.Errorf("it is refused: %s", text)
			}
		}
		h.stop()
		began := time.Now()
		text, _, refused := s.answer(s.ask("join", m{}))
		if took := time.Since(began); !refused || took < 20*time.Second || took > 50*time.Second || !strings.Contains(text, "repeated for as long as a restart takes") { // clients give up after 60
			h.Errorf("after %s: %s", took, text)
		}
		began = time.Now()
		if _, _, refused = s.answer(s.ask("join", m{})); !refused || time.Since(began) > 20*time.Second {
			h.Errorf("when it is known to stay away it is refused after %s", time.Since(began))
		}
		h.start()
		s.leave()
	})
}

func TestAWaitEndsInItsTimeWhereTheServerStaysAway(t *testing.T) {
	withServer(t, func(h *testServer) {
		s := h.open("coder", client.AgentSpec{}).greet()
		waiting := s.ask("inbox", m{"wait": 45})
		synctest.Wait()
		began := time.Now()
		h.stop()
		text, _, refused := s.answer(waiting)
		if took := time.Since(began); !refused || took < 45*time.Second || took > 59*time.Second { // clients give up after 60
			h.Errorf("after %s: %s", took, text)
		}
		h.start()
		s.leave()
	})
}
