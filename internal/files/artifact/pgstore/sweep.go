package pgstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/trapezehq/trapeze/internal/files/artifact"
)

// page is how many artifacts a sweep reads at a time.
const page = 500

// Sweep implements [artifact.Store].
func (s *Store) Sweep(ctx context.Context, before time.Time, keep func(artifact.Key) (bool, error)) (done artifact.Swept, err error) {
	if err := s.sweepAbandoned(ctx); err != nil {
		return done, fmt.Errorf("artifacts: sweep: %w", err)
	}
	for after := (artifact.Key{}); ; {
		list, err := s.list(ctx, after)
		if err != nil {
			return done, fmt.Errorf("artifacts: sweep: %w", err)
		}
		for _, one := range list {
			after = one.key
			if err := s.sweepOne(ctx, one, before, keep, &done); err != nil {
				return done, fmt.Errorf("artifacts: sweep: %w", err)
			}
		}
		if len(list) < page {
			return done, nil
		}
	}
}

type listed struct {
	key     artifact.Key
	touched time.Time
}

// list returns the next artifacts in order.
func (s *Store) list(ctx context.Context, after artifact.Key) ([]listed, error) {
	rows, err := s.pool.Query(ctx, s.in(`SELECT workspace, digest, touched FROM S.artifact WHERE (workspace, digest) > ($1, $2)
		ORDER BY workspace, digest LIMIT $3`), after.Workspace, after.Digest, page)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (l listed, err error) {
		err = row.Scan(&l.key.Workspace, &l.key.Digest, &l.touched)
		return l, err
	})
}

// Each calls fn with every artifact, in order.
func (s *Store) Each(ctx context.Context, fn func(artifact.Key)) error {
	for after := (artifact.Key{}); ; {
		list, err := s.list(ctx, after)
		if err != nil || len(list) == 0 {
			return failed(err)
		}
		for _, l := range list {
			fn(l.key)
			after = l.key
		}
	}
}

func (s *Store) sweepOne(ctx context.Context, one listed, before time.Time, keep func(artifact.Key) (bool, error), done *artifact.Swept) error {
	kept := !one.touched.Before(before)
	if !kept {
		var err error
		if kept, err = keep(one.key); err != nil {
			return err
		}
	}
	if kept {
		done.Kept++
		return nil
	}
	freed, deleted, err := s.remove(ctx, one.key, before)
	switch {
	case err != nil:
		return err
	case deleted:
		done.Deleted++
		done.Freed += freed
	default: // it was put or touched while keep was called, or another sweep was first
		done.Kept++
	}
	return nil
}

// remove deletes an artifact unless it was put or touched while keep was called.
func (s *Store) remove(ctx context.Context, k artifact.Key, before time.Time) (freed int64, deleted bool, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var content int64
		err := tx.QueryRow(ctx, s.in("DELETE FROM S.artifact WHERE workspace = $1 AND digest = $2 AND touched < $3 RETURNING size, content"),
			k.Workspace, k.Digest, before).Scan(&freed, &content)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err == nil {
			deleted = true
			_, err = tx.Exec(ctx, s.in("DELETE FROM S.artifact_piece WHERE content = $1"), content)
		}
		return err
	})
	return freed, deleted && err == nil, err
}

// sweepAbandoned deletes content that was begun long ago and never became an artifact.
func (s *Store) sweepAbandoned(ctx context.Context) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, s.in(`WITH gone AS (DELETE FROM S.artifact_content WHERE begun < now() - make_interval(secs => $1) RETURNING content)
			DELETE FROM S.artifact_piece WHERE content IN (SELECT content FROM gone)`), abandoned.Seconds())
		return err
	})
}
