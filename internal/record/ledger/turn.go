package ledger

import "context"

// Turn is the turn of a call on the processors, which others wait for.
type Turn interface {
	// Pause ends the turn while the call waits for something else, and reports whether it had the turn.
	Pause() bool
	// Resume waits for another turn, until ctx ends.
	Resume(ctx context.Context)
}

// turnKey is the key of [WithTurn].
type turnKey struct{}

// WithTurn returns a context for a call with a turn.
func WithTurn(ctx context.Context, t Turn) context.Context {
	return context.WithValue(ctx, turnKey{}, t)
}

// TurnOf returns the turn of a call; nil: it has none.
func TurnOf(ctx context.Context) Turn {
	t, _ := ctx.Value(turnKey{}).(Turn)
	return t
}

// Pause ends the turn of a call, if it has one, before it waits for something else than the processor, such as the disk or the network.
// resume, after that, waits for another turn.
func Pause(ctx context.Context) (resume func()) {
	if t := TurnOf(ctx); t != nil && t.Pause() {
		return func() { t.Resume(ctx) }
	}
	return func() {}
}
