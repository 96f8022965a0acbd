package sqlview

import (
	"fmt"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// writeEvery is how late the tables of views that follow may be, and writeAfter how many entries they may lack, until somebody reads them: a task that changes
// several times meanwhile is written once.
const (
	writeEvery = 2 * time.Second
	writeAfter = 8192
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
func (p *projector) hear(entries []ledger.Entry, watched func([]topic) bool) (now bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("projector panicked: %v", r)
		}
	}()
	if entries[0].Position <= p.at { // the last projection did not commit
		p.forget()
	}
	if err := p.fold(nil, entries); err != nil {
		p.forget()
		return false, err
	}
	p.at = entries[len(entries)-1].Position
	now = p.dependents == unknown
	for i := range entries {
		t, ok := p.cached(entries[i].Stream)
		if !ok {
			continue
		}
		due := t.state.Due()
		if !due.IsZero() && (p.soonest.IsZero() || due.Before(p.soonest)) {
			p.soonest = due
		}
		p.keys = t.keys(p.keys[:0])
		now = now || t.isUrgent() || !due.IsZero() && due.Before(entries[i].Time.Add(2*writeEvery)) || watched(p.keys)
	}
	return now, nil
}

// isUrgent reports whether more is told of a commit than watchers of the task: whom to wake for an open claim, and whether tasks wait for others.
func (t *taskFold) isUrgent() bool {
	h := t.state.InFlight()
	return t.stored.offer.id != "" || h != nil && openClaim(h) || t.waits() != t.stored.dependents
}

// keys appends what is watched of the task: itself, and the inboxes that it is or was in.
func (t *taskFold) keys(list []topic) []topic {
	list = append(list, topic{workspace: t.workspace, task: t.id})
	for _, items := range [][]item{t.items, t.stored.items} {
		for i := range items {
			list = append(list, topic{workspace: t.workspace, agent: items[i].agent})
		}
	}
	return list
}
