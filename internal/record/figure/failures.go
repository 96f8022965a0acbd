package figure

import (
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// failure is an attempt that failed to hand a task to an agent, or a task that it lost.
type failure struct {
	handoff, sender string
	lost            bool // a task that it lost
	count           int  // in a row, with this one
	at              time.Time
}

// maxFailures is the number of failures that are kept of an agent: the highest number that an alert can ask for.
const maxFailures = 100

// addAgent counts an entry of an agent.
func (t *Tally) addAgent(e *ledger.Entry, workspace, name string) error {
	for _, ev := range e.Events {
		d, err := t.circuits.Decode(ev)
		if err != nil {
			return err
		}
		k := [2]string{workspace, name}
		switch d := d.(type) {
		case agent.Registered:
			t.registered(workspace, name, d.Registration)
		case agent.FailureCounted:
			t.failed(k, failure{t.blamed(workspace, d.Task, d.Handoff), d.Sender, d.Outcome == agent.LeaseLost, d.Failures, e.Time})
		case agent.CircuitOpened:
			t.set.Add(CircuitsOpened, 1, t.workspace(workspace), t.agent(workspace, t.identity(workspace, name)))
			t.failed(k, failure{t.blamed(workspace, d.Task, d.Handoff), d.Sender, d.Outcome == agent.LeaseLost, d.Failures, e.Time})
		case agent.FailuresCleared:
			t.cleared(k, d.Sender, d.Outcome)
		case agent.CircuitClosed:
			t.cleared(k, d.Sender, d.Outcome)
		case agent.ReadinessChanged, agent.PresenceReturned:
			t.looks(workspace, t.identity(workspace, name))
		case agent.CircuitReset:
			t.looks(workspace, t.identity(workspace, name))
			delete(t.failures, k)
			delete(t.outcomes, [2]string{workspace, t.identity(workspace, name)})
		case agent.Removed:
			id := [2]string{workspace, t.identity(workspace, name)}
			delete(t.failures, k)
			delete(t.outcomes, id)
			delete(t.answered, id)
			t.removed(workspace, name)
		}
	}
	return nil
}

// blamed returns the handoff of a failure: the one that failed, or the one that gave the agent the task that it lost; "" if it had the task
// from nobody, or the task has ended.
func (t *Tally) blamed(workspace, task, handoff string) string {
	if w := t.open[ledger.StreamOf(workspace, "task", task)]; handoff == "" && w != nil && w.lost > 0 {
		return event.HandoffID(task, w.lost)
	}
	return handoff
}

// failed keeps the last failures of an agent that the figures name.
func (t *Tally) failed(k [2]string, f failure) {
	if t.agent(k[0], t.identity(k[0], k[1])) == Other {
		return
	}
	list := slices.Clone(t.failures[k])
	list = append(list[max(len(list)-maxFailures+1, 0):], f)
	t.failures[k] = list
}

// cleared forgets the failures that count no more: after an acceptance, those of the sender ("": of all) that are not lost tasks; after the end of
// a task, the lost ones; in an older record, which has no outcome, all of the sender.
func (t *Tally) cleared(k [2]string, sender string, o agent.Outcome) {
	left := slices.DeleteFunc(slices.Clone(t.failures[k]), func(f failure) bool {
		switch of := sender == "" || f.sender == sender; o {
		case agent.Ended:
			return f.lost
		case agent.Accepted:
			return of && !f.lost
		default:
			return of
		}
	})
	if len(left) == 0 {
		delete(t.failures, k)
		return
	}
	t.failures[k] = left
}

// FailuresOf returns the ids of the last handoffs that failed in a row at an agent, at most [Behind], the newest first, and since when there
// are as many failures as least, or the oldest that is kept; zero if there is none. Senders are those whose handoffs it returns; none: those of all.
func (t *Tally) FailuresOf(workspace, name string, least int, senders ...string) (handoffs []string, since time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := t.failures[[2]string{workspace, name}]
	reached := false
	for i := len(list) - 1; i >= 0; i-- {
		f := &list[i]
		if len(senders) > 0 && !slices.Contains(senders, f.sender) {
			continue
		}
		if f.handoff != "" && len(handoffs) < Behind && !slices.Contains(handoffs, f.handoff) {
			handoffs = append(handoffs, f.handoff)
		}
		if enough := f.count >= least; enough || !reached {
			since, reached = f.at, reached || enough
		}
	}
	return handoffs, since
}
