package scenario

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/channels"
	"github.com/trapezehq/trapeze/internal/usecase/policies"
	"github.com/trapezehq/trapeze/internal/usecase/random"
	"github.com/trapezehq/trapeze/internal/usecase/routes"

	"github.com/trapezehq/trapeze/internal/domain/policy"
)

// BenchmarkDecide10000 decides by the last of 200 rules for one of 50 capabilities, among 10,000 agents of a harness.
func BenchmarkDecide10000(b *testing.B) {
	h := open(b, sound())
	defer h.stop()
	var all sync.WaitGroup
	for w := range 64 {
		all.Go(func() {
			for i := w; i < 10_000; i += 64 {
				c := h.operator().WithKey(fmt.Sprint("agent-", i))
				spec := agents.AgentSpec{Capabilities: []string{"all", fmt.Sprint("can-", i%50)}, MaxTasks: 4}
				if _, err := h.app.Agents.Register(ctx(h), c, agents.RegisterInput{Name: fmt.Sprintf("agent-%05d", i), Spec: spec}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
	for _, capability := range []string{"can-7", "all"} {
		var text strings.Builder
		text.WriteString("version: 1\nrules:\n")
		for i := range 199 {
			fmt.Fprintf(&text, "- {name: r%d, when: {keywords: [word%d], cel: 'task.steps > %d'}, then: keep}\n", i, i, i)
		}
		fmt.Fprintf(&text, "- {name: last, then: {to: {capability: %s}}}\n", capability)
		h.adopt(text.String())
		decider := deciderOf(b, h)
		b.Run(capability, func(b *testing.B) {
			var took []time.Duration
			before := processor(b)
			for n := 0; b.Loop(); n++ {
				s := policy.Situation{Task: policy.TaskView{ID: fmt.Sprint("task-", n), Intent: "some words on what there is to do", Steps: 3}}
				began := time.Now()
				d, err := decider.Decide(ctx(h), "default", routing.Question{Situation: &s}, nil, began)
				took = append(took, time.Since(began))
				if err != nil || d.Rule != "last" || len(d.Weighed) != event.MaxWeighed {
					b.Fatal(d, err)
				}
			}
			b.ReportMetric(float64((processor(b)-before).Microseconds())/1000/float64(len(took)), "cpu-ms")
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
		})
	}
}

// deciderOf is what decides by the policy in force of a harness.
func deciderOf(b *testing.B, h *harness) *policies.Decider {
	b.Helper()
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	known, err := agents.NewStore(h.ledger, h.views.Store(), h.now)
	must(err)
	lists, err := channels.NewStore(h.ledger, h.now)
	must(err)
	between := routes.New(h.ledger, h.views.Store(), known, lists, random.New(rand.Reader), nil, h.now)
	inForce, err := policies.NewStore(h.ledger, h.views.Store(), between, h.now, nil, false)
	must(err)
	return policies.NewDecider(inForce, between, nil, nil, nil)
}
