package sqlview

import (
	"context"
	"encoding/json"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
)

// decisionSchema is the table of the decisions of routing. The number of one is the position of its entry: a call makes one at most.
const decisionSchema = `
CREATE TABLE view_decision(ws TEXT NOT NULL, n INTEGER NOT NULL, rule TEXT NOT NULL, policy TEXT NOT NULL, row BLOB NOT NULL,
	PRIMARY KEY(ws, n)) STRICT, WITHOUT ROWID;
CREATE INDEX view_decision_rule ON view_decision(ws, rule, n);
CREATE INDEX view_decision_policy ON view_decision(ws, policy, n);
`

// decided is a decision that the tables lack.
type decided struct {
	at           ledger.Position
	rule, policy string
	row          []byte
}

// noteDecision keeps the decision that an event followed from, before the fold drops it.
func (t *taskFold) noteDecision(ev event.Event, e *ledger.Entry) error {
	row := view.DecisionRow{Time: e.Time, Task: t.id, At: e.Position}
	var d *event.Decision
	switch ev := ev.(type) {
	case event.HandoffRequested:
		if d = ev.Decision; d != nil {
			row.Handoff = event.HandoffID(t.id, ev.Handoff)
		}
	case event.Spawned:
		d = ev.Decision
		for _, c := range ev.Children[:min(len(ev.Children), view.MaxDecided)] {
			row.Children = append(row.Children, c.Task)
		}
	case event.Kept:
		d = &ev.Decision
	}
	if d == nil {
		return nil
	}
	row.Decision = *d
	b, err := json.Marshal(row)
	t.decided = append(t.decided, decided{e.Position, d.Rule, d.Policy, b})
	return err
}

// writeDecisions adds the decisions that the tables lack.
func (p *projector) writeDecisions(t *taskFold) error {
	for _, d := range t.decided {
		if _, err := p.addDecision.Exec(t.workspace, d.at, d.rule, d.policy, d.row); err != nil {
			return err
		}
	}
	t.decided = nil
	return nil
}

// Decisions implements [view.DecisionQueries].
func (v *Views) Decisions(ctx context.Context, workspace string, f view.DecisionFilter) ([]view.DecisionRow, error) {
	q, args := "SELECT row FROM view_decision WHERE ws = ?", []any{workspace}
	if f.Rule != "" {
		q, args = q+" AND rule = ?", append(args, f.Rule)
	}
	if f.Policy != "" {
		q, args = q+" AND policy = ?", append(args, f.Policy)
	}
	if f.Before > 0 {
		q, args = q+" AND n < ?", append(args, f.Before)
	}
	return query.JSON[view.DecisionRow](ctx, v.db, q+" ORDER BY n DESC LIMIT ? | 0", append(args, view.PageSize(f.Limit))...)
}
