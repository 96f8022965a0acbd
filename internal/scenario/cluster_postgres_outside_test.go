//go:build outside

package scenario

import (
	"context"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger/pglog/pgtest"
	"github.com/trapezehq/trapeze/internal/server"
)

// Two front ends share a record in PostgreSQL, and the clock of one is off. Each is killed under load, and so is the database, and one is paused: what was acknowledged by either is true at the end.

func TestNothingAcknowledgedIsLostWhenAFrontEndOrPostgreSQLIsKilled(t *testing.T) {
	db := pgtest.Start(t)
	c := newCampaign(t, modeServe)
	rigs := []*rig{newRig(c, c.TempDir(), c.mode), newRig(c, c.TempDir(), c.mode)}
	for _, r := range rigs {
		r.env = []string{childPostgres + "=" + db.URL()}
	}
	rigs[1].env = append(rigs[1].env, childAhead+"=5m")
	first := c.hire(rigs[0])
	crews := []*crew{first, c.colleagues(first, rigs[1], 1)}
	rigs[1].release(rigs[1].start())
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var waits []func()
	for _, one := range crews {
		waits = append(waits, one.work(ctx))
	}
	for _, victim := range []int{0, 1, -1, 0, -1, 1} {
		c.atWork(rigs, crews, 150)
		if victim < 0 {
			db.Kill()
			<-time.After(time.Duration(c.rng.IntN(500)) * time.Millisecond) // the moment of the start
			db.Run()
			continue
		}
		r := rigs[victim]
		r.kill()
		r.gathered(len(crews[victim].actors))
		c.atWork(rigs[1-victim:2-victim], crews[1-victim:2-victim], 150) // the other one goes on alone
		r.release(r.start())
	}
	c.paused(rigs, crews, 0, 150)
	c.atWork(rigs, crews, 150)
	stop()
	c.concluded(rigs, crews, waits, server.Place{Postgres: db.URL()})
}
