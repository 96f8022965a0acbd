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
		has, changed := f.enter()
		if has {
			during, stop := context.WithCancel(ctx)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				defer f.leave()
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

// enter is look, and counts the caller among those that work if this front end has the turn: then leave ends that.
func (f *FrontEnd) enter() (has bool, changed <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.turn {
		f.alone++
	}
	return f.turn, f.changed
}

func (f *FrontEnd) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.alone--
	f.left.Broadcast()
}

// awaitLeft waits until none is left of those that [FrontEnd.Alone] has called.
func (f *FrontEnd) awaitLeft() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.alone > 0 {
		f.left.Wait()
	}
}

// Pause has this front end give up the turn and not take it, or take it again.
func (f *FrontEnd) Pause(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.paused != on {
		f.paused = on
		close(f.pausing)
		f.pausing = make(chan struct{})
	}
}

// TakeTurn takes the turn as soon as no other front end has it, and keeps it, until ctx ends or the front end is paused.
func (f *FrontEnd) TakeTurn(ctx context.Context) {
	for ctx.Err() == nil {
		f.mu.Lock()
		paused, pausing := f.paused, f.pausing
		f.mu.Unlock()
		if paused {
			select {
			case <-ctx.Done():
			case <-pausing:
			}
			continue
		}
		f.holdUntil(ctx, pausing)
		select {
		case <-ctx.Done():
		case <-time.After(Every):
		}
	}
}

// holdUntil holds the turn until it is lost, ctx ends or end is closed. It gives the turn to others only when what it called has ended and what that
// saved is shared: the next one repeats nothing.
func (f *FrontEnd) holdUntil(ctx context.Context, end <-chan struct{}) {
	hold, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = f.HoldTurn(hold, func() { f.setTurn(true) }) // it is tried again
		f.setTurn(false)
	}()
	select {
	case <-ctx.Done():
	case <-end:
	case <-ended:
	}
	f.setTurn(false)
	f.awaitLeft()
	f.flushLast(ctx)
	stop()
	<-ended
}
