package scenario

import (
	"encoding/json"
	"strings"
	"time"

	door "github.com/trapezehq/trapeze/client"
)

// settles waits until every task has ended, lies in the dead letters, or waits for people.
func (d *supportDesk) settles(tasks []string) {
	for until := time.Now().Add(2 * time.Minute); ; {
		open := 0
		for _, id := range tasks {
			if t := d.task(id); !t.State.Final() && t.State != door.Parked {
				open++
			}
		}
		if open == 0 {
			return
		}
		if time.Now().After(until) {
			d.Errorf("%d tasks have not settled", open)
			return
		}
		<-time.After(500 * time.Millisecond) // between two looks
	}
}

func (d *supportDesk) task(id string) door.Task {
	t, err := d.admin.Task(d.Context(), id)
	if err != nil {
		d.Fatal(err)
	}
	return t
}

// judges looks at what became of each task, and whether the record explains it.
func (d *supportDesk) judges(tasks []string) {
	ends := map[string]int{}
	for _, id := range tasks {
		t := d.task(id)
		trail, err := d.admin.Trail(d.Context(), id)
		if err != nil {
			d.Fatal(err)
		}
		switch {
		case t.State == door.Completed && t.Result != nil && t.Result.Text+string(t.Result.Data) != "":
		case t.State == door.Failed && t.Result != nil && t.Result.Text != "":
		case t.State == door.Parked && t.Parked != nil && t.Parked.Cause != "" && t.Parked.Detail != "":
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
			d.Errorf("the story is too easy: no %s", must)
		}
	}
}

// explains checks that the record says why each handoff was asked for, whom it was offered to and how it ended, and by which
// rule, where the policy decided.
func (d *supportDesk) explains(id string, trail door.Trail) {
	for _, e := range trail.Entries {
		if e.Event != "handoff-request" {
			continue
		}
		var asked struct {
			Handoff  int            `json:"handoff"`
			Reason   string         `json:"reason"`
			Detail   string         `json:"detail"`
			Decision *door.Decision `json:"decision"`
		}
		if err := json.Unmarshal(e.Details, &asked); err != nil {
			d.Fatal(err)
		}
		if asked.Reason == "" {
			d.Errorf("task %s: nobody says why handoff %d was asked for: %s", id, asked.Handoff, e.Details)
		}
		if asked.Decision != nil && (asked.Decision.Rule == "" || len(asked.Decision.Why) == 0) {
			d.Errorf("task %s: nobody says why the policy decided so: %+v", id, asked.Decision)
		}
		if strings.HasPrefix(asked.Detail, "rule ") && asked.Decision == nil {
			d.Errorf("task %s: handoff %d says %q, and no decision is on record", id, asked.Handoff, asked.Detail)
		}
	}
	for _, h := range trail.Handoffs {
		if h.Status == "" || len(h.Entries) == 0 {
			d.Errorf("task %s: %s has no end or no entries", id, h.HandoffID)
		}
	}
}
