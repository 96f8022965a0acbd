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
	// sender is who had the agent do it, by which handoff.
	sender  string
	handoff int
}

// maxOutcomes is the number of outcomes that are kept of an agent: alerts measure the last of them.
const maxOutcomes = 100

// outcomes are the last of an agent.
type outcomes struct {
	list   []outcome // the oldest first, from oldest on, then from 0
	oldest int
}

func (o *outcomes) add(one outcome) {
	if len(o.list) < maxOutcomes {
		o.list = append(o.list, one)
		return
	}
	o.list[o.oldest] = one
	o.oldest = (o.oldest + 1) % maxOutcomes
}

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
	all := c.outcomes[k]
	if all == nil {
		all = &outcomes{}
		c.outcomes[k] = all
	}
	all.add(outcome{c.e.Time, failed, c.id, h.sender, h.handoff})
}

// failing measures what each agent of a workspace made of the tasks that it got.
func (t *Tally) failing(workspace string, d *alert.Definition, now time.Time) (list []alert.Condition) {
	for name, id := range t.living[workspace] {
		of := t.outcomes[[2]string{workspace, id}]
		if of == nil {
			continue
		}
		if c, ok := of.measure(d, now); ok {
			c.Key = alert.Key{Name: d.Name, Agent: name}
			list = append(list, c)
		}
	}
	return list
}

// measure measures the outcomes in the window of a definition.
func (o *outcomes) measure(d *alert.Definition, now time.Time) (c alert.Condition, ok bool) {
	from := minuteOf(now.Add(-d.Window))
	var senders accounts
	var ended, failed float64
	for i := range o.list {
		one := &o.list[(o.oldest+i)%len(o.list)]
		if minuteOf(one.at) < from {
			continue
		}
		ended++
		if one.failed {
			failed++
			senders.add(party{sender: one.sender}, account{wrong: 1})
			c.Handoffs = slices.Insert(c.Handoffs, 0, event.HandoffID(one.task, one.handoff))
			c.Handoffs = c.Handoffs[:min(len(c.Handoffs), Behind)]
		}
		c.Value = failed / ended
		switch c.Holds = failed >= d.Least && d.Compare.Holds(c.Value, d.Threshold); {
		case !c.Holds:
			c.Since = time.Time{}
		case c.Since.IsZero():
			c.Since = one.at
		}
	}
	c.Senders = senders.worst()
	c.Causes = c.Senders
	return c, c.Holds && now.Sub(c.Since) >= d.For
}
