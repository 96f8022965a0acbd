package figure

import (
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// failure is an attempt that failed to hand a task to an agent.
type failure struct {
	handoff, sender string
	at              time.Time
}

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
			t.failed(k, failure{d.Handoff, d.Sender, e.Time})
		case agent.CircuitOpened:
			t.set.Add(CircuitsOpened, 1, t.workspace(workspace), t.agent(workspace, t.identity(workspace, name)))
			t.failed(k, failure{d.Handoff, d.Sender, e.Time})
		case agent.FailuresCleared:
			t.cleared(k, d.Sender)
		case agent.CircuitClosed:
			t.cleared(k, d.Sender)
		case agent.CircuitReset:
			delete(t.failures, k)
		case agent.Removed:
			delete(t.failures, k)
			t.removed(workspace, name)
		}
	}
	return nil
}

// failed keeps the last failures of an agent that the figures name.
func (t *Tally) failed(k [2]string, f failure) {
	if t.agent(k[0], k[1]) == Other {
		return
	}
	list := slices.Clone(t.failures[k])
	list = append(list[max(len(list)-Behind+1, 0):], f)
	t.failures[k] = list
}

// cleared forgets the failures of the handoffs of a sender; "": of all.
func (t *Tally) cleared(k [2]string, sender string) {
	left := slices.DeleteFunc(slices.Clone(t.failures[k]), func(f failure) bool { return sender == "" || f.sender == sender })
	if len(left) == 0 {
		delete(t.failures, k)
		return
	}
	t.failures[k] = left
}

// FailuresOf returns the ids of the last handoffs that failed in a row at an agent, at most [Behind], the newest first, and when the
// oldest of them failed; zero if there is none. Senders are those whose handoffs it returns; none: those of all.
func (t *Tally) FailuresOf(workspace, name string, senders ...string) (handoffs []string, since time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := t.failures[[2]string{workspace, name}]
	for i := len(list) - 1; i >= 0; i-- {
		if len(senders) > 0 && !slices.Contains(senders, list[i].sender) {
			continue
		}
		if list[i].handoff != "" && !slices.Contains(handoffs, list[i].handoff) {
			handoffs = append(handoffs, list[i].handoff)
		}
		since = list[i].at
	}
	return handoffs, since
}
