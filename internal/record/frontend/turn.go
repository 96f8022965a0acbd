package frontend

import (
	"context"
	"time"
)

// HasTurn reports whether this front end has the turn: see [FrontEnd.TakeTurn].
func (f *FrontEnd) HasTurn() bool {
	has, _ := f.look()
	return has
}

// look returns whether this front end has the turn, and a channel that is closed when that changes.
func (f *FrontEnd) look() (has bool, changed <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.turn, f.changed
}

func (f *FrontEnd) setTurn(has bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.turn != has {
		f.turn = has
		close(f.changed)
		f.changed = make(chan struct{})
	}
}

// Alone calls fn whenever this front end has the turn, until ctx ends. The context of fn ends with the turn.
func (f *FrontEnd) Alone(ctx context.Context, fn func(context.Context)) {
	for ctx.Err() == nil {
		has, changed := f.look()
		if has {
			during, stop := context.WithCancel(ctx)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				fn(during)
			}()
			select {
			case <-changed:
			case <-ctx.Done():
			}
			stop()
			<-ended
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// TakeTurn takes the turn as soon as no other front end has it, and keeps it, until ctx ends.
func (f *FrontEnd) TakeTurn(ctx context.Context) {
	for ctx.Err() == nil {
		_ = f.HoldTurn(ctx, func() { f.setTurn(true) }) // it is tried again
		f.setTurn(false)
		select {
		case <-ctx.Done():
		case <-time.After(Every):
		}
	}
}
