package handoffs

import (
	"github.com/trapezehq/trapeze/internal/content/expect"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/channels"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/policies"
	"github.com/trapezehq/trapeze/internal/usecase/routes"
)

// Handoffs decides handoffs. Its methods are safe for many goroutines.
type Handoffs struct {
	agents   *agents.Store
	channels *channels.Store
	routes   *routes.Routes
	policies *policies.Store
	decider  *policies.Decider
	sealer   *envelopes.Sealer
	expect   *expect.Checker
}

// New returns what decides handoffs along routes, by the policies in force, with envelopes that a sealer makes.
func New(a *agents.Store, c *channels.Store, r *routes.Routes, p *policies.Store, d *policies.Decider, s *envelopes.Sealer, e *expect.Checker) *Handoffs {
	return &Handoffs{agents: a, channels: c, routes: r, policies: p, decider: d, sealer: s, expect: e}
}
