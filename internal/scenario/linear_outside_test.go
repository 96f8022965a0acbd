//go:build outside

package scenario

import "time"

// judged judges a contest on a shared ledger, which had so many faults.
func (c *contest) judged(faults int) {
	t := c.harness
	t.Helper()
	task, longest, undecided := c.verdict(time.Minute)
	if len(undecided) > 0 {
		t.Errorf("not decided in a minute: %v", undecided)
	}
	t.Logf("%d tasks, at most %d operations on one; %+v; %d faults", len(c.history.ops), longest, c.history.tally, faults)
	if task != "" {
		t.Fatalf("no order of these explains what the clients were told:\n%s", c.tell(task))
	}
	if faults == 0 {
		t.Error("too easy: there was no fault")
	}
}
