package pgfront

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/trapezehq/trapeze/internal/record/frontend"
)

// turns is the kind of the lock of the turn, which no other locks of the schema have.
const turns = 1953658484

// HoldTurn implements [frontend.Store]. The turn is a lock of a session.
func (s *Store) HoldTurn(ctx context.Context, taken func()) error {
	return s.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error { return s.keepTurn(ctx, c.Conn(), taken) })
}

// keepTurn keeps trying to take the turn, and then the session that has it.
func (s *Store) keepTurn(ctx context.Context, c *pgx.Conn, taken func()) error {
	defer func() { // ends the session, and so the lock
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = c.Close(end)
	}()
	tick := time.NewTicker(frontend.Every)
	defer tick.Stop()
	for has := false; ; {
		query, cancel := context.WithTimeout(ctx, frontend.Patience)
		var err error
		if has {
			_, err = c.Exec(query, "SELECT")
		} else if err = c.QueryRow(query, "SELECT pg_try_advisory_lock($1, hashtext($2))", turns, s.schema).Scan(&has); err == nil && has {
			taken()
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
