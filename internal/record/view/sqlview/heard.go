package sqlview

import (
	"fmt"
	"slices"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/late"
)

// onlyHeard reports whether entries can be folded without the tables: those of tasks can, and those that no view shows.
func onlyHeard(entries []ledger.Entry) bool {
	return !slices.ContainsFunc(entries, func(e ledger.Entry) bool {
		switch _, kind, _ := e.Stream.Parts(); kind {
		case "agent", "token", "channel", "workspace", "memory", "conversation":
			return true
		}
		return false
	})
}

// hear folds entries without writing what they change, and reports whether that has to be written now. A panic is an error, as in a transaction.
func (p *projector) hear(entries []ledger.Entry) (now bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("projector panicked: %v", r)
		}
	}()
	if err := p.fold(nil, entries); err != nil {
		p.Forget()
		return false, err
	}
	p.at = entries[len(entries)-1].Position
	if p.dependents == unknown || p.late.Full(len(entries)) || p.anyUrgent(entries) || p.anyWatched(entries) {
		return true, nil
	}
	p.late.More(len(entries))
	return p.anyWatched(entries), nil
}

// anyUrgent reports whether more is told of a commit than watchers of its tasks. Otherwise it notes when the tasks are due.
func (p *projector) anyUrgent(entries []ledger.Entry) bool {
	for i := range entries {
		t, ok := p.cached(entries[i].Stream)
		if !ok {
			continue
		}
		due := t.state.Due()
		if t.isUrgent() || !due.IsZero() && due.Before(entries[i].Time.Add(2*late.Every)) {
			return true
		}
		if !due.IsZero() {
			p.late.Due(due)
		}
	}
	return false
}

// anyWatched reports whether somebody watches a task of the entries, or an inbox that it is or was in.
func (p *projector) anyWatched(entries []ledger.Entry) bool {
	p.keys = p.keys[:0]
	for i := range entries {
		if t, ok := p.cached(entries[i].Stream); ok {
			p.keys = t.keys(p.keys)
		}
	}
	return p.watched(p.keys)
}

// isUrgent reports whether more is told of a commit than watchers of the task: whom to wake for an open claim, and whether tasks wait for others.
func (t *taskFold) isUrgent() bool {
	h := t.state.InFlight()
	return t.stored.offer.id != "" || h != nil && openClaim(h) || t.waits() != t.stored.dependents
}

// keys appends what is watched of the task: itself, the inboxes that it is or was in, and those that are told of its ticket.
func (t *taskFold) keys(list []topic) []topic {
	list = append(list, topic{workspace: t.workspace, task: t.id})
	for _, items := range [][]item{t.items, t.stored.items} {
		for i := range items {
			list = append(list, topic{workspace: t.workspace, agent: items[i].agent})
		}
	}
	for i := range t.tickets {
		for _, who := range t.tickets[i].tells() {
			list = append(list, topic{workspace: t.workspace, agent: who})
		}
	}
	return list
}
