package figure

import (
	"cmp"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Conditions measures the definitions of alerts on figures of the record, except for those of circuits, for a workspace at a time, and
// returns the conditions that hold. Windows and times are measured to the minute, from the record alone, so that they are the same after
// a restart.
func (t *Tally) Conditions(workspace string, definitions []alert.Definition, now time.Time) []alert.Condition {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.past[workspace]
	if p == nil {
		return nil
	}
	var list []alert.Condition
	m := meter{p: p, totals: p.totals(), now: now, by: map[string]books{}}
	for i := range definitions {
		d := &definitions[i]
		if d.Figure == AgentTasksFailed.Name {
			list = append(list, t.failing(workspace, d, now)...)
			continue
		}
		c, ok := m.condition(d, t.now[workspace])
		if !ok {
			continue
		}
		c.Name = d.Name
		if c.Handoffs == nil {
			c.Handoffs = t.recent.behind(workspace, now.Add(-max(d.Window, now.Sub(c.Since))-time.Minute), d)
		}
		list = append(list, c)
	}
	return list
}

// Measures reports whether [Tally.Conditions] measures a definition.
func Measures(d *alert.Definition) bool {
	return d.Measure != alert.Present || d.Figure == DeadLetters.Name || d.Figure == AuditCoverage.Name
}

// meter measures the figures of a workspace.
type meter struct {
	p      *past
	totals totals
	now    time.Time
	by     map[string]books // by figure, as far as they were asked for
}

func (m *meter) condition(d *alert.Definition, open Open) (c alert.Condition, ok bool) {
	switch {
	case !Measures(d):
		return c, false
	case d.Figure == DeadLetters.Name:
		c = alert.Condition{Value: float64(open.Parked), Since: m.p.parked.since, Handoffs: slices.Clone(m.p.parked.ids)}
		c.Holds = d.Compare.Holds(c.Value, d.Threshold) && m.now.Sub(c.Since) >= d.For
		return c, c.Holds
	case d.Figure == AuditCoverage.Name:
		if m.p.moved == 0 {
			return c, false
		}
		c = alert.Condition{Value: 1 - float64(m.p.bare)/float64(m.p.moved), Since: m.p.uncovered.since, Handoffs: slices.Clone(m.p.uncovered.ids)}
		c.Holds = d.Compare.Holds(c.Value, d.Threshold)
		return c, c.Holds
	}
	return m.windowed(d)
}

// windowed measures what happened in the window of a definition.
func (m *meter) windowed(d *alert.Definition) (c alert.Condition, ok bool) {
	end := m.now
	value, holds := m.value(d, end)
	if d.Measure == alert.Increase && !holds { // it may have held while no server could say so
		for i := len(m.totals.minutes) - 1; i >= 0 && !holds && m.now.Sub(end) < Window; i-- {
			if end = time.Unix(60*m.totals.minutes[i], 0); end.Before(m.now) {
				value, holds = m.value(d, end)
			}
		}
		if !holds || m.now.Sub(end) >= Window {
			return c, false
		}
	} else if !holds {
		return c, false
	}
	c = alert.Condition{Value: value, Since: end, Holds: end.Equal(m.now)}
	for back := time.Minute; back <= Window; back += time.Minute {
		if _, held := m.value(d, end.Add(-back)); !held {
			break
		}
		c.Since = end.Add(-back)
	}
	if end.Sub(c.Since) < d.For {
		return c, false
	}
	if d.Measure == alert.Increase {
		c.Newest = m.newest(end)
	}
	b := m.books(d.Figure)
	c.Senders = b.faulty(window(d.Window, end)).worst()
	return c, true
}

// newest is the last minute up to a time in which a handoff failed.
func (m *meter) newest(end time.Time) time.Time {
	for i := len(m.p.slots) - 1; i >= 0; i-- {
		if s := &m.p.slots[i]; s.failed > 0 && s.minute <= minuteOf(end) {
			return time.Unix(60*s.minute, 0)
		}
	}
	return time.Time{}
}

// value measures a definition at a time; holds is false if there was too little to measure.
func (m *meter) value(d *alert.Definition, end time.Time) (value float64, holds bool) {
	s := m.totals.within(d.Window, end)
	switch d.Measure {
	case alert.Increase:
		return s.failed, d.Compare.Holds(s.failed, d.Threshold)
	case alert.Share, alert.Average:
		if d.Apart {
			return m.share(d, &s, end)
		}
		value, holds = s.average(d.Figure, max(d.Few, 1))
	case alert.Rise:
		if value, holds = s.average(d.Figure, 1); holds {
			day := m.totals.within(alert.Day, end)
			of, ok := day.average(d.Figure, 1)
			holds = ok && of > 0 && value >= d.Few && s.tasks >= d.Least
			value /= of
		}
	case alert.Present:
	}
	return value, holds && d.Compare.Holds(value, d.Threshold)
}

// share measures what went wrong, without what the definition leaves out.
func (m *meter) share(d *alert.Definition, s *sums, end time.Time) (value float64, holds bool) {
	of := s.share(d.Figure)
	few := of.wrong
	if d.Measure == alert.Average {
		few = s.lacking
	}
	if of.wrong <= rounding || few < d.Least {
		return 0, false
	}
	b := m.books(d.Figure)
	from, to := window(d.Window, end)
	return of.without(b.leaves(d, of, from, to)).measure(d)
}

// books are the accounts of a figure.
func (m *meter) books(figure string) books {
	b, there := m.by[figure]
	if !there {
		b = booksOf(figure, m.p.slots)
		m.by[figure] = b
	}
	return b
}

// average is the average of what a histogram got; ok is false if it got fewer values than few.
func (s *sums) average(figure string, few float64) (value float64, ok bool) {
	sum, count := s.hops, s.tasks
	switch figure {
	case EnvelopeUtilisation.Name:
		sum, count = s.utilisation, s.budgeted
	case EnvelopeFullness.Name:
		sum, count = s.fullness, s.budgeted
	}
	if count < few {
		return 0, false
	}
	return sum / count, true
}

// behind returns the ids of up to [Behind] handoffs of a workspace that ended at or after a time and are most telling for an alert.
func (r *ring) behind(workspace string, from time.Time, d *alert.Definition) []string {
	weight := func(h *Handoff) (w float64, ok bool) {
		switch d.Figure {
		case HandoffsFailed.Name:
			return float64(h.Ended.UnixNano()), h.Failed
		case EnvelopeCompleteness.Name:
			return -h.Completeness, h.Completeness >= 0 && h.Completeness < 1
		case EnvelopeUtilisation.Name:
			return -h.Utilisation, h.Utilisation >= 0
		case EnvelopeFullness.Name:
			return h.fullness, h.fullness >= 0
		case TaskHops.Name:
			return float64(h.N), h.Outcome == event.Transferred
		}
		return 0, false
	}
	type weighed struct {
		id, task string
		weight   float64
	}
	var top []weighed
	r.of(workspace, from, func(h Handoff) { // of two that weigh the same, the newer one comes first
		w, ok := weight(&h)
		if !ok {
			return
		}
		if d.Figure == TaskHops.Name { // the last of each task
			top = slices.DeleteFunc(top, func(o weighed) bool { return o.task == h.Task })
		}
		at, _ := slices.BinarySearchFunc(top, w, func(o weighed, w float64) int { return cmp.Compare(w, o.weight) })
		top = slices.Insert(top, at, weighed{h.ID(), h.Task, w})
		top = top[:min(len(top), Behind)]
	})
	var ids []string
	for _, o := range top {
		ids = append(ids, o.id)
	}
	return ids
}
