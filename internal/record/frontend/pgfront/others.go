package pgfront

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/trapezehq/trapeze/internal/record/frontend"
)

// Others implements [frontend.Store].
func (s *Store) Others() frontend.Others { return others{s} }

// others is how front ends hear of each other: each has a row.
type others struct{ *Store }

// Meet implements [frontend.Others].
func (s others) Meet(ctx context.Context, me frontend.Member) (all []frontend.Seen, drain bool, err error) {
	about, err := json.Marshal(me)
	if err != nil {
		return nil, false, err
	}
	err = s.pool.QueryRow(ctx, s.in(`INSERT INTO S.front VALUES($1, $2, clock_timestamp(), false)
		ON CONFLICT (name) DO UPDATE SET about = excluded.about, at = excluded.at RETURNING drain`), me.Name, string(about)).Scan(&drain)
	if err != nil {
		return nil, false, wrap(err)
	}
	rows, err := s.pool.Query(ctx, s.in("SELECT about, extract(epoch FROM clock_timestamp() - at)::float8 FROM S.front WHERE at > clock_timestamp() - make_interval(secs => $1)"),
		frontend.Forgotten.Seconds())
	if err != nil {
		return nil, false, wrap(err)
	}
	var text string
	var age float64
	_, err = pgx.ForEachRow(rows, []any{&text, &age}, func() error {
		one := frontend.Seen{Ago: max(0, time.Duration(age*float64(time.Second)))}
		if err := json.Unmarshal([]byte(text), &one.Member); err != nil {
			return fmt.Errorf("a row of the table front cannot be read: %w", err)
		}
		all = append(all, one)
		return nil
	})
	return all, drain, wrap(err)
}

// Drain implements [frontend.Others].
func (s others) Drain(ctx context.Context, name string, on bool) error {
	_, err := s.pool.Exec(ctx, s.in("UPDATE S.front SET drain = $2 WHERE name = $1"), name, on)
	return wrap(err)
}

// Forget implements [frontend.Others].
func (s others) Forget(ctx context.Context, name string) error {
	_, err := s.pool.Exec(ctx, s.in("DELETE FROM S.front WHERE name = $1"), name)
	return wrap(err)
}
