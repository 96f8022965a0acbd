package frontend

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// turns is the kind of the lock of the turn, which no other locks of the schema have.
const turns = 1953658484

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
		_ = f.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error { return f.keepTurn(ctx, c.Conn()) }) // it is tried again
		f.setTurn(false)
		select {
		case <-ctx.Done():
		case <-time.After(Every):
		}
	}
}

// keepTurn keeps trying to take the turn, and then the session that has it.
func (f *FrontEnd) keepTurn(ctx context.Context, c *pgx.Conn) error {
	defer func() { // ends the session, and so the lock
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = c.Close(end)
	}()
	tick := time.NewTicker(Every)
	defer tick.Stop()
	for has := false; ; {
		query, cancel := context.WithTimeout(ctx, patience)
		var err error
		if has {
			_, err = c.Exec(query, "SELECT")
		} else if err = c.QueryRow(query, "SELECT pg_try_advisory_lock($1, hashtext($2))", turns, f.schema).Scan(&has); err == nil {
			f.setTurn(has)
		}
		cancel()
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
