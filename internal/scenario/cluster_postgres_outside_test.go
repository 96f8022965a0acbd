//go:build outside

package scenario

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/pglog"
	"github.com/trapezehq/trapeze/internal/record/ledger/pglog/pgtest"
)

// Two front ends share a record in PostgreSQL. Each is killed under load, and so is the database: what was acknowledged by either is true at the end.

// colleagues are clients of another front end, with the tokens of a crew.
func (c *campaign) colleagues(of *crew, at *rig) *crew {
	other := &crew{rig: at, agents: of.agents}
	for _, a := range of.actors {
		b := &actor{crew: other, id: a.id + crew32, principal: a.principal, agent: a.agent, token: a.token}
		b.rng = rand.New(rand.NewPCG(c.rng.Uint64(), 2)) //nolint:gosec // not a secret
		other.actors = append(other.actors, b)
	}
	return other
}

func TestNothingAcknowledgedIsLostWhenAFrontEndOrPostgreSQLIsKilled(t *testing.T) {
	db := pgtest.Start(t)
	c := newCampaign(t, modeServe)
	rigs := []*rig{newRig(c, c.TempDir(), c.mode), newRig(c, c.TempDir(), c.mode)}
	for _, r := range rigs {
		r.database = db.URL()
	}
	first := c.hire(rigs[0])
	crews := []*crew{first, c.colleagues(first, rigs[1])}
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
	c.atWork(rigs, crews, 150)
	stop()
	var deeds []*deed
	for i, one := range crews {
		waits[i]()
		deeds = append(deeds, one.deeds()...)
		c.tally(one)
	}
	if err := first.finish(t.Context()); err != nil {
		t.Error(err)
	}
	c.agree(rigs, first)
	for _, r := range rigs {
		if err := r.term(); err != nil {
			t.Errorf("the end of a server: %v\n%s", err, r.stderr)
		}
	}
	deeds = append(deeds, first.deeds()...)
	entries := c.readPostgres(db.URL())
	j := judge(entries, deeds)
	j.ended()
	for _, err := range j.faults {
		t.Error(err)
	}
	t.Logf("%d acknowledged writes, %d refused; %d calls cut off, of which %d had happened; %d entries, %d tasks, all ended",
		c.report.acked, c.report.refused, c.report.cut, c.report.kept, len(entries), len(j.tasks))
	if c.report.cut == 0 {
		t.Error("too easy: no call was cut off")
	}
}

// atWork returns when each crew has had so many more changes acknowledged.
func (c *campaign) atWork(rigs []*rig, crews []*crew, more int64) {
	c.Helper()
	for i, one := range crews {
		for start, deadline := one.acked.Load(), time.Now().Add(patience); one.acked.Load() < start+more; {
			rigs[i].alive()
			if time.Now().After(deadline) {
				c.Fatalf("the clients get nowhere\n%s", rigs[i].stderr)
			}
			<-time.After(time.Millisecond) // the moment of the kill
		}
	}
}

// agree compares what the front ends show when nothing happens any more: the same tasks, with the same owners.
func (c *campaign) agree(rigs []*rig, crew *crew) {
	c.Helper()
	shown := make([]string, len(rigs))
	for deadline := time.Now().Add(patience); shown[0] == "" || shown[0] != shown[1]; {
		if time.Now().After(deadline) {
			c.Fatalf("the front ends differ:\n%.2000s\n%.2000s", shown[0], shown[1])
		}
		for i, r := range rigs {
			url, _ := r.wait()
			cl := r.client(url, crew.actors[len(crew.actors)-1].token)
			shown[i] = c.list(cl)
			cl.Close()
		}
	}
}

func (c *campaign) list(cl *api.Client) (all string) {
	for after := ""; ; {
		page, err := cl.Tasks(c.Context(), api.TaskFilter{Limit: 500, After: after})
		if err != nil {
			c.Fatal(err)
		}
		for _, row := range page.Tasks {
			all += fmt.Sprintln(row.ID, row.State, row.Owner, row.Epoch)
		}
		if after = page.Next; after == "" {
			return all
		}
	}
}

// readPostgres reads every entry of the record in a database.
func (c *campaign) readPostgres(url string) (entries []ledger.Entry) {
	c.Helper()
	log, err := pglog.Open(c.Context(), url, pglog.Options{})
	if err != nil {
		c.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	for {
		page, err := log.Read(c.Context(), ledger.Position(len(entries)), 1000)
		if err != nil {
			c.Fatal(err)
		}
		if len(page) == 0 {
			return entries
		}
		entries = append(entries, page...)
	}
}
