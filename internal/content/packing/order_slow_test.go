//go:build slow

package packing

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/tokenizer"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// A chain cannot be as good as the best choice for each budget alone; within a rank it is nearly so.
func TestAChainIsWorthNearlyAsMuchAsTheBestChoiceForEachBudget(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	sum, least, n := 0.0, 1.0, 0
	for range 40 {
		doc := envelope.Envelope{Handoff: envelope.Header{TaskID: "t", From: "a"}, Task: envelope.Task{Intent: "Do it."}}
		for i := range 20 + random.IntN(40) {
			doc.KeyFacts = append(doc.KeyFacts, envelope.Item{
				ID: fmt.Sprint("f", i), Text: strings.Repeat("word ", 1+random.IntN(60)),
				Weight: envelope.Weight{Importance: 0.2 + 0.6*random.Float64()},
			})
		}
		for range 10 {
			p := packer{doc: &doc, options: Options{Strategy: event.StrategyPriority}, costs: newCosts(tokenizer.Counter{}, envelope.Header{})}
			p.collect()
			p.measure()
			base, all := p.take(0), 0
			for _, i := range p.order {
				all += p.parts[i].tokens
			}
			room := all/5 + random.IntN(all*4/5)
			p.budget = base + p.costs.frame(frame{kind: envelope.PartFact}) + room
			if !p.choose() {
				t.Fatal("nothing fits")
			}
			got, reserve := 0.0, 0
			for at, s := range p.sums(base) {
				if at > 0 && p.parts[p.order[at-1]].in {
					reserve = p.reserved(s)
				}
			}
			p.choose()
			for i := range p.parts {
				if x := &p.parts[i]; x.in {
					got += x.worth() * float64(x.tokens)
				}
			}
			ratio := got / best(&p, room-reserve)
			sum, least, n = sum+ratio, min(least, ratio), n+1
		}
	}
	t.Logf("mean %.3f, least %.3f", sum/float64(n), least)
	if sum/float64(n) < 0.97 || least < 0.8 {
		t.Errorf("mean %.3f, least %.3f of the best choice", sum/float64(n), least)
	}
}

// best is the greatest sum of worth of parts that go within room tokens: an exact knapsack.
func best(p *packer, room int) float64 {
	most := make([]float64, room+1)
	for _, i := range p.order {
		x := &p.parts[i]
		for at := room; at >= x.tokens; at-- {
			most[at] = max(most[at], most[at-x.tokens]+x.worth()*float64(x.tokens))
		}
	}
	return most[room]
}
