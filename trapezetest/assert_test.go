package trapezetest_test

import (
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	kit "github.com/trapezehq/trapeze/trapezetest"
)

func to(names ...string) *client.SendInput { return &client.SendInput{To: names} }

// order is the task of the planted chains.
func order(first string) client.CreateInput {
	return client.CreateInput{
		Intent:      "Refund order 4711 of the bakery",
		Content:     client.Content{Facts: []client.Point{{ID: "price", Text: "it cost 30 euros"}}},
		Constraints: []client.Constraint{{ID: "limit", Kind: client.ConstraintBudget, Text: "at most 50 euros"}},
		Send:        to(first),
	}
}

var (
	window   = client.AgentSpec{ContextWindow: 200_000}
	refunded = []kit.Step{kit.Complete("order 4711 of the bakery is refunded")}
)

// refund runs a chain of three agents, of which the second may be broken.
func refund(s *kit.Server, middle []kit.Turn, spec client.AgentSpec, last []kit.Step) *kit.Chain {
	s.Agent("desk", kit.Accept(kit.Decision("way", "by transfer"), kit.HandOn("middle")))
	s.Agent("middle", middle...).With(spec)
	s.Agent("cashier", kit.Accept(last...))
	s.Agent("clerk", kit.Accept(refunded...))
	return s.Run(s.Create(order("desk")))
}

func TestEveryAssertionHoldsForAGoodChain(t *testing.T) {
	t.Parallel()
	c := refund(kit.Start(t), []kit.Turn{kit.Accept(kit.HandOn("cashier"))}, window, refunded)
	for name, holds := range map[string]bool{
		"Completed": c.Completed(), "Owners": c.Owners("desk", "middle", "cashier"), "Survived": c.Survived(), "Survived with ids": c.Survived("price", "way", "limit"),
		"TokensAtMost": c.TokensAtMost(250), "NothingParked": c.NothingParked(), "NoRefusals": c.NoRefusals(),
		"ReflectsIntent": c.ReflectsIntent(), "ReflectsIntent with a judge": c.ReflectsIntent(kit.MentionsAll("Bakery", "4711")),
	} {
		if !holds {
			t.Errorf("%s does not hold", name)
		}
	}
}

func TestTheClockStandsUntilItIsMovedAndStopsAtEveryTimerOnTheWay(t *testing.T) {
	t.Parallel()
	s := kit.Start(t)
	if !s.Now().Equal(kit.Epoch) {
		t.Fatalf("the clock starts at %s", s.Now())
	}
	s.Agent("sleeper", kit.Ignore())
	task := s.Create(client.CreateInput{Intent: "nobody looks", Send: to("sleeper")})
	s.Advance(24 * time.Hour)
	if !s.Now().Equal(kit.Epoch.Add(24 * time.Hour)) {
		t.Errorf("the clock is at %s", s.Now())
	}
	offers := map[time.Time]bool{}
	for _, e := range s.Chain(task).Trail.Entries {
		if e.Event == "offer-expired" || e.Event == "handoff-offered" {
			offers[e.Timestamp] = true
		}
	}
	if len(offers) < 2 {
		t.Errorf("the timers ran at %v: not each at its time", offers)
	}
}
