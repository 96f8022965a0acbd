package natsfront

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/record/frontend"
)

const (
	turnKey = "turn"
	// holds is how long a holder of the turn that cannot renew it believes to have it.
	holds = 4 * time.Second
	// vacant is how long a front end must see a turn unchanged before it takes it. It is longer than holds, by which clocks need not agree.
	vacant = 7 * time.Second
)

// HoldTurn implements [frontend.Store]. The turn is a key that its holder writes again each second; one who gives it up leaves it empty.
func (s *Store) HoldTurn(ctx context.Context, taken func()) error {
	revision, err := s.awaitTurn(ctx)
	if err != nil {
		return err
	}
	taken()
	tick := time.NewTicker(frontend.Every)
	defer tick.Stop()
	for renewed := time.Now(); ; {
		select {
		case <-ctx.Done():
			s.leaveTurn(ctx, revision)
			return ctx.Err()
		case <-tick.C:
		}
		began := time.Now()
		query, cancel := context.WithTimeout(ctx, time.Until(renewed.Add(holds)))
		next, err := s.update(query, turnKey, []byte(s.id), revision)
		cancel()
		switch {
		case err == nil:
			revision, renewed = next, began
		case isConflict(err) || time.Since(renewed) >= holds: // another has it, or may have
			return wrap(err)
		}
	}
}

// awaitTurn waits for the turn, takes it, and returns its revision.
func (s *Store) awaitTurn(ctx context.Context) (revision uint64, err error) {
	tick := time.NewTicker(frontend.Every)
	defer tick.Stop()
	var since time.Time // the turn has been as it is
	for {
		query, cancel := context.WithTimeout(ctx, frontend.Patience)
		v, err := s.get(query, turnKey)
		switch {
		case err != nil:
		case v == nil:
			if revision, err = s.kv.Create(query, turnKey, []byte(s.id)); err == nil {
				cancel()
				return revision, nil
			}
		case v.Revision() != revision:
			revision, since = v.Revision(), time.Now()
			fallthrough
		default:
			if holder := string(v.Value()); holder != "" && holder != s.id && time.Since(since) < vacant {
				break
			}
			if next, err := s.update(query, turnKey, []byte(s.id), revision); err == nil {
				cancel()
				return next, nil
			}
		}
		cancel()
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-tick.C:
		}
	}
}

// leaveTurn lets another take the turn at once.
func (s *Store) leaveTurn(ctx context.Context, revision uint64) {
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_, _ = s.kv.Update(end, turnKey, nil, revision) // it may be another's already; otherwise they wait a little longer
}
