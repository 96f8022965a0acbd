//go:build slow || outside

package scenario

import (
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
)

func TestHandoffsThatWaitForACircuitAreMadeWhenItCloses(t *testing.T) {
	for how, closes := range map[string]func(h *harness, take func(n int)){
		"by the probe": func(_ *harness, take func(n int)) {
			time.Sleep(20 * time.Minute)
			take(1)
		},
		"by an operator": func(h *harness, _ func(n int)) { h.resetCircuit("holder") },
	} {
		t.Run(how, func(t *testing.T) {
			tell := func(h *harness) {
				h.join("lead")
				h.register("holder", breaker)
				h.ownsAndIsLost("holder", 4)
				time.Sleep(30 * time.Minute)
				h.pair("lead", "holder", agent.Open)
				take, left := h.taker("holder")
				take(1) // what was offered before the circuit opened
				closes(h, take)
				h.lets("lead", "holder")
				h.soon(func() { take(left(4)) })
			}
			halfOpenStory(t, tell)
			t.Run(lateAnswer, func(t *testing.T) { bubble(t, lateAnswer, tell) })
		})
	}
}
