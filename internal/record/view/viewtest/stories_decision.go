package viewtest

import (
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// decides requests a handoff that follows from a decision, and turns it down.
func (s *stage) decides(task, to string, d event.Decision) {
	s.Helper()
	r := s.to(task, to)
	d.Action, d.To = event.ActionHandOff, event.Receiver{Agent: to}
	r.Decision = &d
	s.do(task, r, handoff.Reject{By: agentOf(to), Handoff: s.next(task), Reason: event.Refused})
}

func decisionStory(s *stage) {
	for n := 1; n <= 3; n++ {
		s.create(n, operator)
	}
	s.decides(id(1), "bob", event.Decision{Rule: "money", Policy: sha("a"), Why: []string{"it has the word invoice"}})
	s.decides(id(2), "cy", event.Decision{Rule: "hard", Policy: sha("a"), Weighed: []event.Weighed{{Agent: "cy", Tier: event.TierTarget, Fit: true, Why: "ready"}}})
	s.refers(id(3), "bob") // without one
	s.do(id(1), handoff.Replay{By: operator})
	s.decides(id(1), "cy", event.Decision{Rule: "money", Policy: sha("b")})
	list := func(f view.DecisionFilter, want ...string) (rows []view.DecisionRow) {
		s.Helper()
		rows, err := s.views.Decisions(s.ctx, s.ws, f)
		got := make([]string, len(rows))
		for i, r := range rows {
			got[i] = r.Rule + " of " + r.Handoff
		}
		if err != nil || !slices.Equal(got, want) {
			s.Errorf("%+v: got %q, %v; want %q", f, got, err, want)
		}
		return rows
	}
	last := s.task(id(1)).Handoff.ID(id(1))
	all := []string{"money of " + last, "hard of " + id(2) + ".h1", "money of " + id(1) + ".h1"}
	rows := list(view.DecisionFilter{}, all...)
	list(view.DecisionFilter{Rule: "money"}, all[0], all[2])
	list(view.DecisionFilter{Policy: sha("a")}, all[1], all[2])
	list(view.DecisionFilter{Rule: "money", Policy: sha("b")}, all[0])
	list(view.DecisionFilter{Limit: 1}, all[0])
	list(view.DecisionFilter{Limit: 1, Before: rows[0].At}, all[1])
	list(view.DecisionFilter{Before: rows[2].At})
	if d := rows[1]; d.Task != id(2) || d.To.Agent != "cy" || len(d.Weighed) != 1 || !d.Weighed[0].Fit || d.Time.IsZero() {
		s.Errorf("%+v", d)
	}
	if d := rows[2]; len(d.Why) != 1 || d.Why[0] != "it has the word invoice" {
		s.Errorf("%+v", d)
	}
	s.ws = "other"
	list(view.DecisionFilter{})
	s.ws = "main"
}
