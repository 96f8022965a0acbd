package quota_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/quota"
)

// sentCounts is the number of items of each sender.
type sentCounts struct {
	view.TaskQueries
	open  map[string]int
	err   error
	asked int
	held  chan struct{} // nil, or what a count waits for
}

func (c *sentCounts) SentCount(_ context.Context, _, agent, sender string, _ int) (int, error) {
	c.asked++
	if c.held != nil {
		<-c.held
	}
	return c.open[sender+" to "+agent], c.err
}

func TestItemsAreCountedOnceAndAgainAtTheBound(t *testing.T) {
	c := &sentCounts{open: map[string]int{"junk to bob": 2}}
	q, err := quota.NewWaiting(5, view.Store{TaskQueries: c}, false)
	if err != nil {
		t.Fatal(err)
	}
	admit := func(sender string, want refusal.Code) {
		t.Helper()
		if err := q.Admit(t.Context(), "default", sender, "bob"); refusal.CodeOf(err) != want {
			t.Fatalf("%s: %v, want %q", sender, err, want)
		}
	}
	for range 3 {
		admit("agent/junk", "")
	}
	if c.asked != 1 {
		t.Errorf("counted %d times below the bound", c.asked)
	}
	c.open["junk to bob"] = 5
	admit("agent/junk", refusal.Overloaded)
	admit("agent/honest", "")
	c.open["junk to bob"] = 4 // one was answered
	admit("agent/junk", "")
	c.open["junk to bob"] = 5
	admit("agent/junk", refusal.Overloaded)
	c.err = errors.New("no views")
	admit("agent/junk", "")
}

// Of several servers, each counts often: calls that come while one counts do not count, too, nor do they wait.
func TestOneCallCountsForThoseThatComeMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &sentCounts{open: map[string]int{"junk to bob": 10}, held: make(chan struct{})}
		q, err := quota.NewWaiting(100, view.Store{TaskQueries: c}, true)
		if err != nil {
			t.Fatal(err)
		}
		admit := func() {
			if err := q.Admit(t.Context(), "default", "agent/junk", "bob"); err != nil {
				t.Error(err)
			}
		}
		go admit()
		synctest.Wait()
		for range 7 {
			admit()
		}
		close(c.held)
		synctest.Wait()
		if c.asked != 1 {
			t.Errorf("%d calls counted", c.asked)
		}
		admit() // 18 may wait, and 15 could before it was to be counted again
		if c.asked != 2 {
			t.Errorf("counted %d times", c.asked)
		}
	})
}

// Whatever the order in which several servers let items through, there are few more than the bound.
func TestSeveralServersTogetherLetFewMoreItemsThroughThanOne(t *testing.T) {
	const most, servers = 1000, 3
	turns := map[string]func(n int) int{ // the server that is asked after n items
		"one after the other":           func(n int) int { return n % servers },
		"two begin, and the third ends": func(n int) int { return []int{0, 1, 2}[min(n, 2)] },
	}
	for name, next := range turns {
		t.Run(name, func(t *testing.T) {
			c := &sentCounts{open: map[string]int{}}
			var each [servers]*quota.Waiting
			for i := range each {
				var err error
				if each[i], err = quota.NewWaiting(most, view.Store{TaskQueries: c}, true); err != nil {
					t.Fatal(err)
				}
			}
			admit := func(server int) bool {
				err := each[server].Admit(t.Context(), "default", "agent/junk", "bob")
				if err == nil {
					c.open["junk to bob"]++
				} else if refusal.CodeOf(err) != refusal.Overloaded {
					t.Fatal(err)
				}
				return err == nil
			}
			for n := 0; admit(next(n)); n++ {
			}
			for server := range each { // each uses what it has left
				for admit(server) {
				}
			}
			got := c.open["junk to bob"]
			if over := (servers - 1) * most / 16; got < most || got > most+over {
				t.Errorf("%d items wait, want %d and %d more at most", got, most, over)
			}
			if c.asked > got/4 {
				t.Errorf("%d items were counted %d times", got, c.asked)
			}
		})
	}
}
