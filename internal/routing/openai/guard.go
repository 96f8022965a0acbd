package openai

import (
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// guard keeps the calls within their budget, and leaves an endpoint alone that keeps failing.
type guard struct {
	opts Options

	mu       sync.Mutex
	hour     time.Time        // when the present hour of the budget began
	used                      // in it, by all
	by       map[string]*used // in it, by principal
	failures int              // in a row
	openTill time.Time        // the circuit is open until then; zero: closed
	probing  bool             // after that, one call tries
}

// used is what was used of an hour's budget.
type used struct {
	calls  int   // tries
	tokens int64 // those of calls under way as estimated
}

func (u *used) add(calls int, tokens int64) {
	u.calls += calls
	u.tokens = max(0, u.tokens+tokens)
}

// begin lets one try for a principal through, or says why not. estimate is what it will cost in tokens.
func (g *guard) begin(by string, estimate int64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.opts.Now()
	if now.Sub(g.hour) >= time.Hour || now.Before(g.hour) {
		g.hour, g.used, g.by = now, used{}, map[string]*used{}
	}
	mine := g.by[by]
	if mine == nil {
		mine = &used{}
	}
	again := g.hour.Add(time.Hour).UTC().Format(time.RFC3339)
	const hint = "try again then, name a receiver, or raise the budget"
	calls, tokens := g.opts.PerHour*g.opts.Share/100, g.opts.TokensPerHour*int64(g.opts.Share)/100
	switch {
	case g.failures >= g.opts.Failures && (now.Before(g.openTill) || g.probing):
		return unavailable("the model is left alone until %s, after %d failures in a row", g.openTill.UTC().Format(time.RFC3339), g.failures)
	case g.calls >= g.opts.PerHour:
		return refusal.New(refusal.Budget, hint, "the %d calls of this hour are made; the next begins at %s", g.opts.PerHour, again)
	case g.tokens+estimate > g.opts.TokensPerHour:
		return refusal.New(refusal.Budget, hint, "the %d tokens of this hour are spent; the next begins at %s", g.opts.TokensPerHour, again)
	case mine.calls > 0 && (mine.calls >= calls || mine.tokens+estimate > tokens): // everybody has one call
		return refusal.New(refusal.Budget, hint, "%s has used up its share of this hour's calls or tokens, which is %d percent; the next hour begins at %s", by, g.opts.Share, again)
	}
	g.probing = g.failures >= g.opts.Failures
	g.add(1, estimate)
	mine.add(1, estimate)
	g.by[by] = mine
	return nil
}

// spent replaces what a try for a principal was estimated to cost by what it did.
func (g *guard) spent(by string, estimate, cost int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.add(0, cost-estimate)
	if mine := g.by[by]; mine != nil { // else another hour has begun
		mine.add(0, cost-estimate)
	}
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
