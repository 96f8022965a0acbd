//go:build slow || outside

package scenario

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	api "github.com/trapezehq/trapeze/client"
)

// settles waits until every task has ended, is in the dead letters, or waits for people.
func (d *supportDesk) settles(tasks []string) {
	for until := time.Now().Add(2 * patience); ; {
		var open []string
		for _, id := range tasks {
			if t := d.task(id); !t.State.Final() && t.State != api.Parked {
				open = append(open, fmt.Sprintf("%s is %s with %q, handoff %+v, ticket %+v", id, t.State, t.Owner, t.Handoff, t.Ticket))
			}
		}
		if len(open) == 0 {
			return
		}
		if time.Now().After(until) {
			d.Errorf("%d tasks have not settled:\n%s", len(open), strings.Join(open, "\n"))
			return
		}
		<-time.After(500 * time.Millisecond) // between two looks
	}
}

func (d *supportDesk) task(id string) api.Task {
	t, err := d.admin.Task(d.Context(), id)
	if err != nil {
		d.Fatal(err)
	}
	return t
}

// judges checks the end of each task, and whether the record explains it.
func (d *supportDesk) judges(tasks []string) {
	ends := map[string]int{}
	for _, id := range tasks {
		t := d.task(id)
		trail, err := d.admin.Trail(d.Context(), id)
		if err != nil {
			d.Fatal(err)
		}
		switch {
		case t.State == api.Completed && t.Result != nil && t.Result.Text+string(t.Result.Data) != "":
		case t.State == api.Failed && t.Result != nil && t.Result.Text != "":
		case t.State == api.Parked && t.Parked != nil && t.Parked.Cause != "" && t.Parked.Detail != "":
		default:
			d.Errorf("task %s is %s, parked %+v, result %+v", id, t.State, t.Parked, t.Result)
		}
		ends[string(t.State)]++
		if t.Used.Hops > t.Limits.Hops || t.Used.Handoffs > t.Limits.Handoffs || t.Used.Escalations > t.Limits.Escalations || t.Used.Attempts > t.Limits.Attempts {
			d.Errorf("task %s went beyond its limits: %+v of %+v", id, t.Used, t.Limits)
		}
		visits := map[string]int{}
		for _, v := range t.Path {
			if visits[v.Agent]++; visits[v.Agent] > t.Limits.Visits {
				d.Errorf("task %s was with %s %d times", id, v.Agent, visits[v.Agent])
			}
		}
		for _, e := range trail.Entries {
			ends[e.Event]++
		}
		d.explains(id, trail)
	}
	d.Logf("what happened: %v", ends)
	for _, must := range []string{"completed", "handoff-rejected", "ticket-opened", "ticket-closed", "lease-lost", "handoff-complete", "children-spawned"} {
		if ends[must] == 0 {
			d.Errorf("the test is too easy: no %s", must)
		}
	}
}

// explains checks that the record says why each handoff was asked for, whom it was offered to and how it ended, and by which
// rule, where the policy decided.
func (d *supportDesk) explains(id string, trail api.Trail) {
	for _, e := range trail.Entries {
		if e.Event != "handoff-request" {
			continue
		}
		var asked struct {
			Handoff  int           `json:"handoff"`
			Reason   string        `json:"reason"`
			Detail   string        `json:"detail"`
			Decision *api.Decision `json:"decision"`
		}
		if err := json.Unmarshal(e.Details, &asked); err != nil {
			d.Fatal(err)
		}
		if asked.Reason == "" {
			d.Errorf("task %s: no reason for handoff %d: %s", id, asked.Handoff, e.Details)
		}
		if asked.Decision != nil && (asked.Decision.Rule == "" || len(asked.Decision.Why) == 0) {
			d.Errorf("task %s: no reason for the policy's decision: %+v", id, asked.Decision)
		}
		if strings.HasPrefix(asked.Detail, "rule ") && asked.Decision == nil {
			d.Errorf("task %s: handoff %d says %q, and no decision is recorded", id, asked.Handoff, asked.Detail)
		}
	}
	for _, h := range trail.Handoffs {
		if h.Status == "" || len(h.Entries) == 0 {
			d.Errorf("task %s: %s has no end or no entries", id, h.HandoffID)
		}
	}
}
