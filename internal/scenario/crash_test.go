//go:build (slow && !race) || outside

package scenario

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// A server is killed at random moments while many clients are at work, and every answer that they got must still be true
// when it is back.

var cyclesFlag = flag.Int("cycles", 0, "how often the server is killed; 0 means 3, or 30 with the build tag slow")

const (
	crew32       = 32 // clients of a server
	operators    = 3  // of them
	idsOfCrew    = 1000
	cyclesALife  = 10  // before a new data directory
	leastWrites  = 100 // that a cycle must acknowledge on average, lest it be too easy
	repeatsAfter = 60  // calls that are repeated after each restart
)

// crewNames are the first agents.
var crewNames = []string{"ada", "ben", "cyd", "dot", "eve", "fay"}

// agentNames are the names of so many agents.
func agentNames(n int) (list []string) {
	for i := range n {
		if i < len(crewNames) {
			list = append(list, crewNames[i])
		} else {
			list = append(list, fmt.Sprint("agent-", i))
		}
	}
	return list
}

// campaign is a number of kills, and their results.
type campaign struct {
	*testing.T
	rng     *rand.Rand
	program []string
	mode    string
	agents  int           // at least so many have clients
	think   time.Duration // of a client, between two calls: on average
	report  struct{ cycles, acked, refused, cut, kept, idle, again, entries, tasks int }
	faults  []error
	waits   map[string][]time.Duration // by fault of a cluster: the longest that changes waited
	doubts  doubts
}

func newCampaign(t *testing.T, mode string) *campaign {
	return &campaign{T: t, rng: rand.New(rand.NewPCG(randomSeed(t), 1)), mode: mode, agents: len(crewNames)} //nolint:gosec // not a secret
}

func TestNothingAcknowledgedIsLostWhenTheServerIsKilled(t *testing.T) {
	embedded(t)
	t.Parallel()
	n := *cyclesFlag
	if n == 0 {
		n = crashCycles
	}
	c := newCampaign(t, modeServe)
	c.program = crashProgram(t)
	for n > 0 && len(c.faults) == 0 {
		c.life(min(n, cyclesALife))
		n -= cyclesALife
	}
	for _, err := range c.faults {
		t.Error(err)
	}
	r := c.report
	t.Logf("%d kills, %d acknowledged writes, %d refused; %d calls cut off, of which %d had happened; %d kills hit no call, "+
		"%d hit a server that was starting; %d entries and %d tasks, all ended",
		r.cycles, r.acked, r.refused, r.cut, r.kept, r.idle, r.again, r.entries, r.tasks)
	if err := c.tooEasy(); err != nil {
		t.Error(err)
	}
}

// tooEasy returns why a campaign proves nothing, or nil.
func (c *campaign) tooEasy() error {
	r := c.report
	switch {
	case r.acked < r.cycles*leastWrites:
		return fmt.Errorf("too easy: %d acknowledged writes in %d cycles", r.acked, r.cycles)
	case r.idle*5 > r.cycles:
		return fmt.Errorf("too easy: %d of %d kills hit no call", r.idle, r.cycles)
	case r.cycles >= 20 && (r.kept == 0 || r.kept == r.cut):
		return fmt.Errorf("too easy: of %d calls cut off, %d had happened: the kills hit one side of the commit only", r.cut, r.kept)
	}
	return nil
}

// life is some cycles on one data directory, and its end.
func (c *campaign) life(cycles int) {
	c.Helper()
	r := newRig(c, c.TempDir(), c.mode)
	r.program = c.program
	crew := c.hire(r)
	ctx, stop := context.WithCancel(c.Context())
	defer stop()
	wait := crew.work(ctx)
	for range cycles {
		if c.cycle(r, crew); len(c.faults) > 0 {
			break
		}
	}
	stop()
	if len(c.faults) > 0 {
		r.release(r.start()) // the clients end what they have begun
	}
	wait()
	c.tally(crew)
	if len(c.faults) > 0 {
		r.kill()
		return
	}
	if err := crew.finish(c.Context()); err != nil {
		c.faults = append(c.faults, err)
	}
	if err := r.term(); err != nil {
		c.Errorf("the end of the server: %v\n%s", err, r.stderr)
	}
	entries, j := c.examine(r, crew)
	j.ended()
	j.looks(crew.deeds(), crew.sights())
	c.blame(j)
	c.report.entries += len(entries)
	c.report.tasks += len(j.tasks)
}

func (c *campaign) tally(crew *crew) {
	c.report.acked += int(crew.acked.Load())
	c.report.refused += int(crew.refused.Load())
	c.report.cut += int(crew.cut.Load())
	c.report.kept += int(crew.kept.Load())
}

func (c *campaign) blame(j *judgement) { c.faults = append(c.faults, j.faults...) }

// end stops the server, which must end well, judges the record, and reports all faults so far.
func (c *campaign) end(r *rig, crew *crew) {
	c.Helper()
	if err := r.term(); err != nil {
		c.Error(err)
	}
	_, j := c.examine(r, crew)
	c.blame(j)
	for _, err := range c.faults {
		c.Error(err)
	}
}

// hire starts a server, and creates its agents and clients.
func (c *campaign) hire(r *rig) *crew {
	c.Helper()
	url := r.start()
	crew := &crew{rig: r, think: c.think, agents: agentNames(c.agents), tokens: map[string]string{}}
	crew.admin = r.client(url, r.token)
	token := func(role api.Role, name string) string {
		t, err := crew.admin.CreateToken(c.Context(), api.TokenInput{Role: role, Name: name})
		if err != nil {
			c.Fatal(err)
		}
		return t.Text
	}
	for _, name := range crew.agents {
		if _, err := crew.admin.RegisterAgent(c.Context(), name, api.AgentSpec{Breaker: api.Breaker{Failures: 100}}); err != nil {
			c.Fatal(err)
		}
		crew.tokens[name] = token(api.RoleAgent, name)
	}
	crew.operator = token(api.RoleOperator, "ann")
	c.engage(crew, 0, crew32-operators, operators)
	r.release(url)
	return crew
}

// engage gives a crew its clients, which are those of so many agents, from one of them on, and of operators.
func (c *campaign) engage(crew *crew, from, agents, operators int) {
	crew.actors = nil
	for i := range agents + operators {
		a := &actor{crew: crew, id: crew.number*idsOfCrew + i, principal: "operator/ann", token: crew.operator, rng: rand.New(rand.NewPCG(c.rng.Uint64(), 2))} //nolint:gosec // not a secret
		if i < agents {
			a.agent = crew.agents[(from+i)%len(crew.agents)]
			a.principal, a.token = "agent/"+a.agent, crew.tokens[a.agent]
		}
		crew.actors = append(crew.actors, a)
	}
}

// cycle lets the clients work, kills the server, examines its data, and starts it again.
func (c *campaign) cycle(r *rig, crew *crew) {
	c.Helper()
	c.report.cycles++
	more := int64(100 + c.rng.IntN(500))
	pause := time.Duration(c.rng.IntN(3000)) * time.Microsecond
	cut := crew.cut.Load()
	for start, deadline := crew.acked.Load(), time.Now().Add(patience); crew.acked.Load() < start+more; {
		r.alive()
		if time.Now().After(deadline) {
			c.Fatalf("the clients make no progress: %d acknowledged, %d wanted\n%s", crew.acked.Load()-start, more, r.stderr)
		}
		<-time.After(200 * time.Microsecond) // the moment of the kill
	}
	<-time.After(pause)
	r.kill()
	r.gathered(len(crew.actors))
	if crew.cut.Load() == cut {
		c.report.idle++
	}
	if c.rng.IntN(4) == 0 { // and again while it starts
		c.report.again++
		r.launch()
		<-time.After(time.Duration(c.rng.IntN(80)) * time.Millisecond)
		r.kill()
	}
	_, j := c.examine(r, crew)
	c.blame(j)
	if len(c.faults) > 0 {
		return
	}
	url := r.start()
	c.repeat(r, url, crew)
	r.release(url)
}

// examine compares the server's data on the disk with the answers that the clients got.
func (c *campaign) examine(r *rig, crew *crew) ([]ledger.Entry, *judgement) {
	c.Helper()
	path := r.snapshot()
	entries, err := readRecord(path)
	if err != nil && c.mode == modeServe {
		c.faults = append(c.faults, err)
	}
	if err := verifyViews(path); err != nil {
		c.faults = append(c.faults, err)
	}
	return entries, judge(entries, crew.deeds())
}

// repeat repeats calls that were answered before the kill. Each must give its first answer.
func (c *campaign) repeat(r *rig, url string, crew *crew) {
	c.Helper()
	var done []*deed
	for _, d := range crew.deeds() {
		if d.done && d.refused == "" && len(d.receipt.Events) > 0 {
			done = append(done, d)
		}
	}
	c.rng.Shuffle(len(done), func(i, k int) { done[i], done[k] = done[k], done[i] })
	var mu sync.Mutex
	var wg sync.WaitGroup
	operator := crew.actors[len(crew.actors)-1]
	for part := range slices.Chunk(done[:min(len(done), repeatsAfter)], repeatsAfter/6) {
		wg.Go(func() {
			for _, d := range part {
				err := d.again(r.client(url, d.who.token))
				if err == nil {
					err = d.trailed(r.client(url, operator.token))
				}
				if err != nil {
					mu.Lock()
					c.faults = append(c.faults, err)
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
}

// again repeats a call that was answered.
func (d *deed) again(c *api.Client) error {
	defer c.Close()
	r, err := d.do(api.WithKey(context.Background(), d.key), c)
	if err != nil {
		return fmt.Errorf("%s, repeated: %w", d, err)
	}
	first := d.receipt
	want := fmt.Sprint(first.Task, first.State, first.Owner, first.Epoch, first.Position, first.Events, first.Handoff, first.Children)
	if got := fmt.Sprint(r.Task, r.State, r.Owner, r.Epoch, r.Position, r.Events, r.Handoff, r.Children); got != want || !r.Repeat {
		return fmt.Errorf("%w: %s, repeated (%v): %s, first %s", errDiffers, d, r.Repeat, got, want)
	}
	return nil
}

// trailed looks for an answered call in the task's trail.
func (d *deed) trailed(c *api.Client) error {
	defer c.Close()
	trail, err := c.Trail(context.Background(), d.receipt.Task)
	if err != nil {
		return fmt.Errorf("%s: %w", d, err)
	}
	var names []string
	for _, e := range trail.Entries {
		if e.Position == d.receipt.Position {
			names = append(names, e.Event)
		}
	}
	if !slices.Equal(names, d.receipt.Events) {
		return fmt.Errorf("%w: %s recorded %v, its trail has %v", errLost, d, d.receipt.Events, names)
	}
	return nil
}
