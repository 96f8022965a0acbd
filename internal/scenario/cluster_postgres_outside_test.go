//go:build outside

package scenario

import (
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger/pglog/pgtest"
	"github.com/trapezehq/trapeze/internal/server"
)

// Two front ends share a record in PostgreSQL, and the clock of one is off. Each is killed under load, and so is the database, and one is paused: what was acknowledged by either is true at the end.
func TestNothingAcknowledgedIsLostWhenAFrontEndOrPostgreSQLIsKilled(t *testing.T) {
	t.Parallel() // it mostly waits
	c := newClusterCampaign(t)
	dirs, disks := c.newDisks(1)
	db := pgtest.StartAt(t, dirs[0])
	disks[0].sync()
	rigs := []*rig{newRig(c, c.TempDir(), c.mode), newRig(c, c.TempDir(), c.mode)}
	for _, r := range rigs {
		r.env = []string{childPostgres + "=" + db.URL()}
	}
	rigs[1].env = append(rigs[1].env, childAhead+"=5m")
	crews, stop, waits := c.frontsAtWork(rigs)
	for range *faultsFlag {
		c.killsFronts(rigs, crews, db, disks[0])
		c.full("full disk of the database", disks[0], rigs, crews, -1, 50)
		c.happened("pause of a front end", c.paused(rigs, crews, 0, 50))
		c.atWork(rigs, crews, 50)
	}
	stop()
	c.concluded(rigs, crews, waits, server.Place{Postgres: db.URL()})
	if c.report.cut == 0 {
		c.Error("too easy: no call was cut off")
	}
}

// The front ends know both servers. The first one dies under load, and the standby that every commit has waited for takes over.
func TestNothingAcknowledgedIsLostWhenAStandbyOfPostgreSQLTakesOver(t *testing.T) {
	t.Parallel() // beside the others, which mostly wait
	c := newClusterCampaign(t)
	for range *faultsFlag {
		db := pgtest.Start(t)
		standby := db.Standby()
		db.Configure("synchronous_standby_names = 'standby'")
		db.Reload()
		rigs := []*rig{newRig(c, c.TempDir(), c.mode), newRig(c, c.TempDir(), c.mode)}
		for _, r := range rigs {
			r.env = []string{childPostgres + "=" + db.URLAt(db.Addr()+","+standby.Addr())}
		}
		crews, stop, waits := c.frontsAtWork(rigs)
		c.atWork(rigs, crews, 50)
		db.Kill()
		standby.Promote()
		c.happened("failover to a synchronous standby", c.atWork(rigs, crews, 50))
		stop()
		c.concluded(rigs, crews, waits, server.Place{Postgres: standby.URL()})
	}
}

// frontsAtWork starts servers, each with clients of its own, which work until the test ends them.
func (c *campaign) frontsAtWork(rigs []*rig) (crews []*crew, stop func(), waits []func()) {
	c.Helper()
	crews = c.crewsOf(rigs, crew32-operators, operators)
	for _, r := range rigs[1:] {
		r.release(r.start())
	}
	stop, waits = c.beginWork(crews)
	return crews, stop, waits
}

// killsFronts kills front ends and the database.
func (c *campaign) killsFronts(rigs []*rig, crews []*crew, db *pgtest.Server, its *disk) {
	c.Helper()
	for n, victim := range []int{0, 1, -1, 0, -1, 1} {
		c.atWork(rigs, crews, 50)
		if victim < 0 {
			what := "kill of the database"
			if n == 2 {
				what = "loss of power of the database"
				its.off()
				db.Off()
				its.on()
			} else {
				db.Kill()
			}
			<-time.After(time.Duration(c.rng.IntN(500)) * time.Millisecond) // the moment of the start
			db.Run()
			c.happened(what+", when it runs again", c.atWork(rigs, crews, 50))
			continue
		}
		r := rigs[victim]
		r.kill()
		c.happened("kill of a front end", c.atWork(allBut(rigs, victim), allBut(crews, victim), 50)) // the other one goes on alone
		r.gathered(len(crews[victim].actors))
		r.release(r.start())
	}
}
