//go:build slow

package cli_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/client"
)

func TestAStreamGoesOnWhenTheServerWasStartedAgain(t *testing.T) {
	withServer(t, func(h *testServer) {
		s := h.open("coder", client.AgentSpec{}).greet()
		before, after := s.question("q1", "Which hinge?"), s.question("q2", "Which screw?")
		s.listens("one", before, after)
		s.hears("one begins")
		s.hears("one is working")
		s.hears("one is working")
		h.stop()
		time.Sleep(10 * time.Minute) // longer than any call is tried
		h.start()
		time.Sleep(time.Minute)
		h.answers(before)
		s.hears("one is completed")
		h.stop()
		h.start()
		h.answers(after)
		s.hears("one is completed")
		s.hears("one ends")
		s.leave()
	})
}

func TestAStreamThatBeginsWhileTheServerIsAwayIsRefused(t *testing.T) {
	withServer(t, func(h *testServer) {
		s := h.open("coder", client.AgentSpec{}).greet()
		handle := s.question("q", "Which hinge?")
		h.stop()
		s.listens("one", handle)
		s.hears("one refused -32603")
		h.start()
		s.listens("one", handle)
		s.hears("one begins")
		s.hears("one is working")
		s.leave()
	})
}

func TestAStreamIsCancelledAndItsIdIsFreeThen(t *testing.T) {
	withServer(t, func(h *testServer) {
		s := h.open("coder", client.AgentSpec{}).greet()
		handle := s.question("q", "Which hinge?")
		for range 2 {
			s.listens("one", handle)
			s.hears("one begins")
			s.hears("one is working")
			s.listens("one", handle)
			s.hears("<nil> refused -32600")
			s.line(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"one"}}`)
			s.hears("one ends")
		}
		h.answers(handle)
		synctest.Wait()
		s.line(`{"jsonrpc":"2.0","id":"after","method":"ping"}`)
		s.hears("after ends") // and nothing before it
		s.leave()
	})
}

func TestAnothersTasksAreNotToldOf(t *testing.T) {
	withServer(t, func(h *testServer) {
		s, other := h.open("coder", client.AgentSpec{}).greet(), h.open("other", client.AgentSpec{}).greet()
		handle := s.question("q", "Which hinge?")
		other.listens("one", handle, "task_nobody.k1", "nonsense")
		other.hears("one begins")
		other.hears("one ends")
		s.leave()
		other.leave()
	})
}

func TestASessionWithStreamsEndsAsSoonAsAnyOther(t *testing.T) {
	withServer(t, func(h *testServer) {
		for _, end := range []func(*stdioSession){(*stdioSession).leave, (*stdioSession).killed} {
			s := h.begin("coder", h.token("coder", client.AgentSpec{})).greet()
			handle := s.question("q", "Which hinge?")
			s.listens("one", handle)
			s.hears("one begins")
			s.hears("one is working")
			synctest.Wait()
			end(s)
		}
	})
}
