package openai

import (
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/refusal"
)

// guard keeps the calls within their budget, and leaves an endpoint alone that keeps failing.
type guard struct {
	opts Options

	mu       sync.Mutex
	hour     time.Time // when the present hour of the budget began
	calls    int       // tries in it
	tokens   int64     // in it, those of calls under way as estimated
	failures int       // in a row
	openTill time.Time // the circuit is open until then; zero: closed
	probing  bool      // after that, one call tries
}

// begin lets one try through, or says why not. estimate is what it will cost in tokens.
func (g *guard) begin(estimate int64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.opts.Now()
	if now.Sub(g.hour) >= time.Hour || now.Before(g.hour) {
		g.hour, g.calls, g.tokens = now, 0, 0
	}
	again := g.hour.Add(time.Hour).UTC().Format(time.RFC3339)
	const hint = "try again then, name a receiver, or raise the budget"
	switch {
	case g.failures >= g.opts.Failures && (now.Before(g.openTill) || g.probing):
		return unavailable("the model is left alone until %s, after %d failures in a row", g.openTill.UTC().Format(time.RFC3339), g.failures)
	case g.calls >= g.opts.PerHour:
		return refusal.New(refusal.Budget, hint, "the %d calls of this hour are made; the next begins at %s", g.opts.PerHour, again)
	case g.tokens+estimate > g.opts.TokensPerHour:
		return refusal.New(refusal.Budget, hint, "the %d tokens of this hour are spent; the next begins at %s", g.opts.TokensPerHour, again)
	}
	g.probing = g.failures >= g.opts.Failures
	g.calls++
	g.tokens += estimate
	return nil
}

// spent replaces what a try was estimated to cost by what it did.
func (g *guard) spent(estimate, cost int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tokens = max(0, g.tokens-estimate+cost)
}

// judged counts how a try went.
func (g *guard) judged(well bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.probing = false
	if well {
		g.failures = 0
		return
	}
	g.failures++
	if g.failures >= g.opts.Failures {
		g.openTill = g.opts.Now().Add(g.opts.OpenFor)
	}
}
