package handoff

import (
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// ReadShare notes that the agent has fetched what was shared with it.
type ReadShare struct {
	By    identity.Principal
	Share int
}

func (c ReadShare) decide(t task.Task, _ time.Time) ([]event.Event, error) {
	s, err := shared(t, c.By.Short(), c.Share)
	if err != nil || s.Read {
		return nil, err
	}
	return []event.Event{event.ShareRead{Share: s.N}}, nil
}

// shared finds what is shared with agent.
func shared(t task.Task, agent string, n int) (task.Share, error) {
	i := slices.IndexFunc(t.Shares, func(s task.Share) bool { return s.N == n && s.To == agent })
	if i < 0 {
		return task.Share{}, refusal.New(refusal.NotFound, "[check your inbox](inbox)", "nothing is shared with %s as %.64s", agent, event.ShareID(t.ID, n))
	}
	return t.Shares[i], nil
}
