package openai

import (
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// budget bounds the calls and tokens of an hour, and has a circuit breaker for an endpoint that keeps failing.
type budget struct {
	opts Options

	mu       sync.Mutex
	hour     time.Time        // the start of the current hour
	used                      // in this hour, in total
	by       map[string]*used // in this hour, by principal
	failures int              // in a row
	openTill time.Time        // the circuit is open until then; zero: closed
	probing  bool             // one call is the probe after that
}

// used is the part of an hour's budget that is used.
type used struct {
	calls  int   // tries
	tokens int64 // estimated for calls in progress
}

func (u *used) add(calls int, tokens int64) {
	u.calls += calls
	u.tokens = max(0, u.tokens+tokens)
}

// begin admits one try for a principal, or refuses it. estimate is its number of tokens.
func (b *budget) begin(by string, estimate int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.opts.Now()
	if now.Sub(b.hour) >= time.Hour || now.Before(b.hour) {
		b.hour, b.used, b.by = now, used{}, map[string]*used{}
	}
	mine := b.by[by]
	if mine == nil {
		mine = &used{}
	}
	again := b.hour.Add(time.Hour).UTC().Format(time.RFC3339)
	const hint = "try again then, name a receiver, or raise the budget"
	calls, tokens := b.opts.PerHour*b.opts.Share/100, b.opts.TokensPerHour*int64(b.opts.Share)/100
	switch {
	case b.failures >= b.opts.Failures && (now.Before(b.openTill) || b.probing):
		return unavailable("the model is not asked until %s, after %d failures in a row", b.openTill.UTC().Format(time.RFC3339), b.failures)
	case b.calls >= b.opts.PerHour:
		return refusal.New(refusal.Budget, hint, "the %d calls of this hour are made; the next begins at %s", b.opts.PerHour, again)
	case b.tokens+estimate > b.opts.TokensPerHour:
		return refusal.New(refusal.Budget, hint, "the %d tokens of this hour are spent; the next begins at %s", b.opts.TokensPerHour, again)
	case mine.calls > 0 && (mine.calls >= calls || mine.tokens+estimate > tokens): // every principal has one call
		return refusal.New(refusal.Budget, hint, "%s has used up its share of this hour's calls or tokens, which is %d percent; the next hour begins at %s", by, b.opts.Share, again)
	}
	b.probing = b.failures >= b.opts.Failures
	b.add(1, estimate)
	mine.add(1, estimate)
	b.by[by] = mine
	return nil
}

// spent replaces the estimate of a try for a principal by its actual number of tokens.
func (b *budget) spent(by string, estimate, cost int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(0, cost-estimate)
	if mine := b.by[by]; mine != nil { // otherwise a new hour has begun
		mine.add(0, cost-estimate)
	}
}

// judged counts the success or failure of a try.
func (b *budget) judged(well bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
	if well {
		b.failures = 0
		return
	}
	b.failures++
	if b.failures >= b.opts.Failures {
		b.openTill = b.opts.Now().Add(b.opts.OpenFor)
	}
}
