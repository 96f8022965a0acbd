package transport_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/trapezehq/trapeze/internal/api/mcpapi/transport"
)

func TestAPrincipalThatLeavesForOthersLeavesNothingOpen(t *testing.T) {
	run(t, transport.Options{Idle: 2}, func(t *testing.T, h *harness) {
		gone, stays := h.token("gone", agent("gone")), h.token("stays", agent("stays"))
		left, kept := h.session(gone), h.session(stays)
		end := h.listen(stays, kept)
		defer end()
		for i := range 3 {
			h.session(h.token(fmt.Sprint(i), agent(fmt.Sprint("agent-", i))))
		}
		synctest.Wait()
		if r := h.send(gone, left, whoami(2, 0)); r.status != http.StatusNotFound {
			t.Errorf("a session of one that left for others: %d %s", r.status, r.body)
		}
		if r := h.send(stays, kept, whoami(2, 0)); r.status != http.StatusOK {
			t.Errorf("a session in use: %d %s", r.status, r.body)
		}
		h.session(gone) // which begins another
	})
}

func TestLeavingForOthersIsNoWayAroundABound(t *testing.T) {
	run(t, transport.Options{Idle: 1}, func(t *testing.T, h *harness) {
		token := h.token("t", coder)
		var ends []func()
		for range mostSessions {
			ends = append(ends, h.listen(token, h.session(token)))
		}
		for i := range 3 {
			h.session(h.token(fmt.Sprint(i), agent(fmt.Sprint("agent-", i))))
		}
		if r := h.begin(token); r.status != http.StatusTooManyRequests {
			t.Errorf("one more session after others came: %d %s", r.status, r.body)
		}
		for _, end := range ends {
			end()
		}
	})
}
