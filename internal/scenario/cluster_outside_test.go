//go:build outside

package scenario

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natsnode"
	"github.com/trapezehq/trapeze/internal/server"
	"github.com/trapezehq/trapeze/internal/server/sharedrecord"
)

// Where the record of a server in a process of its own is.
const (
	childPostgres = "TRAPEZE_TEST_POSTGRES" // the URL of a database
	childNode     = "TRAPEZE_TEST_NODE"     // a node of a cluster: its options as JSON
	childNATS     = "TRAPEZE_TEST_NATS"     // the URL of a cluster that is there
	childAhead    = "TRAPEZE_TEST_AHEAD"    // how much its clock is ahead of the others
)

var (
	faultsFlag = flag.Int("faults", 2, "how often each fault of a cluster happens in the tests of kills, of the network and of disks")
	agentsFlag = flag.Int("agents", 50, "how many agents the clients of a cluster are")
	thinkFlag  = flag.Duration("think", time.Second/2, "for how long an agent of a cluster does nothing between two calls, on average")
	pauseFlag  = flag.Duration("pause", time.Minute, "for how long a server is paused at least")
)

func init() {
	childPlace = func() server.Place {
		place := server.Place{Postgres: os.Getenv(childPostgres), NATS: server.NATS{URL: os.Getenv(childNATS), Synced: os.Getenv(childNATS) != ""}}
		if text := os.Getenv(childNode); text != "" {
			place.NATS.Start = func(_ context.Context, dir string) (server.Node, error) {
				var o natsnode.Options
				if err := json.Unmarshal([]byte(text), &o); err != nil {
					return nil, err
				}
				o.Dir, o.Log = dir, slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
				return natsnode.Start(o)
			}
		}
		place.NATS.Waiting = func(hears string, cause error) { fmt.Fprintln(os.Stderr, "waits; hears", hears, "-", cause) }
		return place
	}
	if ahead, err := time.ParseDuration(os.Getenv(childAhead)); err == nil {
		childNow = func() time.Time { return time.Now().Add(ahead) }
	}
}

// newClusterCampaign is one whose clients are as many agents as the flags say, and think as long.
func newClusterCampaign(t *testing.T) *campaign {
	c := newCampaign(t, modeServe)
	c.agents, c.think = max(*agentsFlag, c.agents), *thinkFlag
	c.Cleanup(c.tellWaits)
	return c
}

// paused stops the process of a server, whose connections stay open, has the others go on, and continues it: what its clients asked is then answered, or refused.
func (c *campaign) paused(rigs []*rig, crews []*crew, victim int, more int64) (longest time.Duration) {
	c.Helper()
	process := rigs[victim].cmd.Process
	c.Logf("%s: pause %d", time.Now().Format(time.TimeOnly), victim)
	if err := process.Signal(syscall.SIGSTOP); err != nil {
		c.Fatal(err)
	}
	defer func() { _ = process.Signal(syscall.SIGCONT) }() // also if the test ends here
	for begun := time.Now(); longest == 0 || time.Since(begun) < *pauseFlag; {
		longest = max(longest, c.atWork(allBut(rigs, victim), allBut(crews, victim), more))
	}
	if err := process.Signal(syscall.SIGCONT); err != nil {
		c.Fatal(err)
	}
	c.doubts.add()
	c.Logf("%s: go on", time.Now().Format(time.TimeOnly))
	c.atWork(rigs[victim:victim+1], crews[victim:victim+1], more)
	return longest
}

// full has the disk of one server be full while others go on, or while nobody does if there are none, and then not any more.
func (c *campaign) full(what string, its *disk, rigs []*rig, crews []*crew, victim int, more int64) {
	c.Helper()
	if its == nil {
		c.Log("SKIPPED: no disk is full, as this user may not mount one")
		return
	}
	c.Logf("%s: %s", time.Now().Format(time.TimeOnly), what)
	release := its.fill()
	if victim < 0 {
		c.untilNothingIsTaken(crews)
	} else {
		c.happened(what, c.atWork(allBut(rigs, victim), allBut(crews, victim), more))
		until(c.T, "the node notices", func() bool { return strings.Contains(rigs[victim].stderr.String(), "no space left on device") })
	}
	release()
	c.Logf("%s: there is space again", time.Now().Format(time.TimeOnly))
	c.happened(what+", when there is space again", c.atWork(rigs, crews, more))
}

// untilNothingIsTaken returns when no change was acknowledged for a second.
func (c *campaign) untilNothingIsTaken(crews []*crew) {
	c.Helper()
	sum := func() (n int64) {
		for _, one := range crews {
			n += one.acked.Load()
		}
		return n
	}
	for seen, at, deadline := sum(), time.Now(), time.Now().Add(patience); time.Since(at) < time.Second; <-time.After(10 * time.Millisecond) {
		if now := sum(); now != seen {
			seen, at = now, time.Now()
		}
		if time.Now().After(deadline) {
			c.Fatal("a full disk stops nothing")
		}
	}
}

// allBut returns all but one.
func allBut[T any](list []T, one int) []T { return slices.Delete(slices.Clone(list), one, one+1) }

// happened keeps for how long changes waited at most while a fault lasted, at the servers that go on.
func (c *campaign) happened(fault string, waited time.Duration) {
	if c.waits == nil {
		c.waits = map[string][]time.Duration{}
	}
	c.waits[fault] = append(c.waits[fault], waited)
}

// tellWaits says of each fault how often it happened, and for how long changes waited.
func (c *campaign) tellWaits() {
	c.Helper()
	for _, fault := range slices.Sorted(maps.Keys(c.waits)) {
		list := slices.Sorted(slices.Values(c.waits[fault]))
		for i := range list {
			list[i] = list[i].Round(10 * time.Millisecond)
		}
		c.Logf("%s: %d times; the longest wait for a change was %s at the median, %s at most: %v", fault, len(list), list[len(list)/2], list[len(list)-1], list)
	}
}

// newDisks are directories of servers on disks of their own, if this user may make them.
func (c *campaign) newDisks(n int) (dirs []string, disks []*disk) {
	for range n {
		dir := c.TempDir()
		dirs, disks = append(dirs, dir), append(disks, newDisk(c, dir))
	}
	return dirs, disks
}

// crewsOf hires clients of each server, which have the same few agents, or share many.
func (c *campaign) crewsOf(rigs []*rig, agents, operators int) (crews []*crew) {
	c.Helper()
	first := c.hire(rigs[0])
	agents = max(agents, (len(first.agents)+len(rigs)-1)/len(rigs))
	for i, r := range rigs {
		one := first
		if i > 0 {
			one = &crew{rig: r, number: i, think: first.think, agents: first.agents, tokens: first.tokens, operator: first.operator}
		}
		c.engage(one, i*agents, agents, operators)
		crews = append(crews, one)
	}
	return crews
}

// beginWork has the clients work until the test ends them.
func (c *campaign) beginWork(crews []*crew) (stop func(), waits []func()) {
	ctx, stop := context.WithCancel(c.Context())
	c.Cleanup(stop)
	for _, one := range crews {
		waits = append(waits, one.work(ctx))
	}
	return stop, waits
}

// longWait is for how long changes wait before the log says what their server does.
const longWait = 12 * time.Second

// atWork returns when each crew has had so many more changes acknowledged, and the longest time for which one of them had none.
func (c *campaign) atWork(rigs []*rig, crews []*crew, more int64) (longest time.Duration) {
	c.Helper()
	start, seen, at := make([]int64, len(crews)), make([]int64, len(crews)), make([]time.Time, len(crews))
	for i, one := range crews {
		start[i], at[i] = one.acked.Load(), time.Now()
		seen[i] = start[i]
	}
	told := false
	for deadline, left := time.Now().Add(patience), len(crews); left > 0; <-time.After(time.Millisecond) { // the moment of the kill
		left = 0
		for i, one := range crews {
			now := one.acked.Load()
			if seen[i] < start[i]+more {
				longest = max(longest, time.Since(at[i]))
			}
			if now > seen[i] {
				seen[i], at[i] = now, time.Now()
			}
			if now >= start[i]+more {
				continue
			}
			left++
			rigs[i].alive()
			if !told && time.Since(at[i]) > longWait { // more than an election takes
				told = true
				c.Logf("%s: no change for %s, and the server says\n%s", time.Now().Format(time.TimeOnly), longWait, rigs[i].stderr.end(4<<10))
			}
			if time.Now().After(deadline) {
				url, _ := rigs[i].wait()
				probe := rigs[i].client(url, one.actors[0].token)
				c.Fatalf("the clients make no progress: %d of %d; %v\n%s", now-start[i], more, probe.Ready(c.Context()), rigs[i].stderr)
			}
		}
	}
	return longest
}

// agree compares what the front ends show when nothing happens any more: the same tasks, with the same owners.
func (c *campaign) agree(rigs []*rig, crew *crew) {
	c.Helper()
	shown := make([]string, len(rigs))
	for deadline := time.Now().Add(patience); shown[0] == "" || !equal(shown); {
		if time.Now().After(deadline) {
			c.Fatalf("the front ends differ:\n%.6000q", shown)
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

func equal(shown []string) bool {
	return !slices.ContainsFunc(shown, func(one string) bool { return one != shown[0] })
}

// concluded has the crews end their tasks when nothing is killed any more, and compares what was acknowledged with the record, and the front ends with each other.
// The replicas of some nodes are read, too, and compared entry by entry.
func (c *campaign) concluded(rigs []*rig, crews []*crew, waits []func(), at server.Place, nodes ...string) {
	c.Helper()
	for i, one := range crews {
		waits[i]()
		c.tally(one)
	}
	if err := finish(c.Context(), crews...); err != nil {
		c.Error(err)
	}
	c.agree(rigs, crews[0])
	entries := c.readShared(at)
	c.replicasAgree(at, nodes, len(entries))
	for _, r := range rigs {
		if err := r.term(); err != nil {
			c.Errorf("the end of a server: %v\n%s", err, r.stderr)
		}
	}
	var deeds []*deed
	var sights []*seen
	for _, one := range crews {
		deeds, sights = append(deeds, one.deeds()...), append(sights, one.sights()...)
	}
	sights = slices.DeleteFunc(sights, c.doubts.of)
	j := judge(entries, deeds)
	j.ended()
	j.looks(deeds, sights)
	for _, err := range j.faults {
		c.Error(err)
	}
	c.Logf("%d acknowledged writes, %d refused; %d calls cut off, of which %d had happened; %d entries, %d tasks, all ended; %d looks at tasks",
		c.report.acked, c.report.refused, c.report.cut, c.report.kept, len(entries), len(j.tasks), len(sights))
}

// readShared reads every entry of the record at a place.
func (c *campaign) readShared(at server.Place) (entries []ledger.Entry) {
	c.Helper()
	parts, err := sharedrecord.OpenParts(c.Context(), at, sharedrecord.Options{})
	if err != nil {
		c.Fatal(err)
	}
	defer func() { _ = parts.Close() }()
	last, err := parts.Entries().Last(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	until(c.T, "the replica that is read has all entries", func() bool {
		page, err := parts.Entries().Read(c.Context(), ledger.Position(len(entries)), 1000)
		if err != nil {
			c.Fatal(err)
		}
		entries = append(entries, page...)
		return len(page) == 0 && ledger.Position(len(entries)) >= last
	})
	return entries
}
