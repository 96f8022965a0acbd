package viewtest

import (
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// changedStory has times whose fractions have texts of several lengths, or none.
func changedStory(s *stage) {
	var at []time.Time
	for n, fraction := range []time.Duration{0, 500 * time.Millisecond, 450 * time.Millisecond, time.Microsecond, 999_999 * time.Microsecond, 120 * time.Microsecond} {
		s.now = s.now.Truncate(time.Second).Add(fraction)
		s.create(n, agentOf("ann"))
		at = append(at, s.now)
	}
	s.now = s.now.Truncate(time.Second)
	s.do(id(0), handoff.Start{By: agentOf("ann")}) // which is then the last that changed
	at[0] = s.now
	edges := []time.Time{{}, s.now.Add(time.Hour), s.now.Add(-time.Hour), at[1].In(time.FixedZone("", 3600))}
	for _, t := range at {
		edges = append(edges, t, t.Add(time.Microsecond), t.Truncate(time.Second))
	}
	for _, since := range edges {
		for _, until := range edges {
			want := []string{}
			for n := len(at) - 1; n >= 0; n-- {
				if !at[n].Before(since) && (until.IsZero() || at[n].Before(until)) {
					want = append(want, id(n))
				}
			}
			s.wantTasks(view.TaskFilter{Since: since, Until: until}, want...)
		}
	}
	for _, f := range []view.TaskFilter{{Text: "do"}, {Live: true}, {Involving: "ann"}, {Involving: "ann", Live: true}} {
		f.Since, f.Until = at[2], at[5]
		s.wantTasks(f, strings.Fields(id(4)+" "+id(3)+" "+id(2))...)
	}
}
