package figure

import (
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// outcome is what an agent made of a task that it got from another.
type outcome struct {
	at     time.Time
	failed bool
	task   string
	by     holder // who had it, by which handoff
}

// maxOutcomes is the number of outcomes that are kept of an agent: alerts measure the last of them.
const maxOutcomes = 100

// holder is the agent that has a task from another, and by which handoff.
type holder struct {
	agent, sender string
	handoff       int
}

// hold notes who has the task from now on; nobody if the agent has its own task, or a person has it.
func (c *count) hold(e *event.Moved) {
	if h := c.w.holder; h.agent != "" && h.agent == c.w.from { // it has handed the task on
		c.made(false)
	}
	c.w.holder = holder{}
	if !e.Human && e.To != c.w.requester {
		c.w.holder = holder{strings.Clone(e.To), c.w.from, e.Handoff}
	}
}

// made counts that the agent that has the task from another is rid of it.
func (c *count) made(failed bool) {
	h := c.w.holder
	if h.agent == "" {
		return
	}
	c.w.holder = holder{}
	label := c.agent(c.workspace, h.agent)
	c.set.Add(AgentTasksEnded, 1, c.label, label)
	if failed {
		c.set.Add(AgentTasksFailed, 1, c.label, label)
	}
	if label == Other {
		return
	}
	k := [2]string{c.workspace, h.agent}
	list := c.outcomes[k]
	if len(list) == maxOutcomes {
		list = slices.Delete(list, 0, 1)
	}
	c.outcomes[k] = append(list, outcome{c.e.Time, failed, c.id, h})
}

// failing measures what each agent of a workspace made of the tasks that it got.
func (t *Tally) failing(workspace string, d *alert.Definition, now time.Time) (list []alert.Condition) {
	for name, id := range t.living[workspace] {
		c, ok := measureOutcomes(t.outcomes[[2]string{workspace, id}], d, now)
		if ok {
			c.Key = alert.Key{Name: d.Name, Agent: name}
			list = append(list, c)
		}
	}
	return list
}

// measureOutcomes measures the outcomes in the window of a definition, the newest last.
func measureOutcomes(all []outcome, d *alert.Definition, now time.Time) (c alert.Condition, ok bool) {
	from := minuteOf(now.Add(-d.Window))
	var senders accounts
	var ended, failed float64
	for i := range all {
		o := &all[i]
		if minuteOf(o.at) < from {
			continue
		}
		ended++
		if o.failed {
			failed++
			senders.add(party{sender: o.by.sender}, account{wrong: 1})
			c.Handoffs = slices.Insert(c.Handoffs, 0, event.HandoffID(o.task, o.by.handoff))
			c.Handoffs = c.Handoffs[:min(len(c.Handoffs), Behind)]
		}
		c.Value = failed / ended
		switch c.Holds = failed >= d.Least && d.Compare.Holds(c.Value, d.Threshold); {
		case !c.Holds:
			c.Since = time.Time{}
		case c.Since.IsZero():
			c.Since = o.at
		}
	}
	c.Senders = senders.worst()
	c.Causes = c.Senders
	return c, c.Holds && now.Sub(c.Since) >= d.For
}
