//go:build slow

package cli_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/client"
)

func TestABatchWaitsForTheSlowestAndHoldsUpNothingElse(t *testing.T) {
	withServer(t, func(h *testServer) {
		s := h.open("coder", client.AgentSpec{}).greetIn(batched)
		s.line(`[{"jsonrpc":"2.0","id":"slow","method":"tools/call","params":{"name":"inbox","arguments":{"wait":20}}},` + ping("quick") + `]`)
		synctest.Wait()
		began := time.Now()
		s.line(ping("meanwhile"))
		if got := s.next(); got["id"] != "meanwhile" || time.Since(began) != 0 {
			h.Errorf("after %s: %v", time.Since(began), got)
		}
		if by, _ := s.answers(); len(by) != 2 || time.Since(began) < 20*time.Second {
			h.Errorf("after %s: %v", time.Since(began), by)
		}
		s.line(`[{"jsonrpc":"2.0","id":"slow","method":"tools/call","params":{"name":"inbox","arguments":{"wait":20}}},` +
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow"}}]`)
		began = time.Now()
		if by, _ := s.answers(); by["slow"] == nil || time.Since(began) >= 20*time.Second {
			h.Errorf("cancelled in the same batch: %v", by)
		}
		s.leave()
	})
}
