package envelopes

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// readShare gives what was shared, packed for the agent that it was shared with, and notes that it was read.
func (es *Envelopes) readShare(ctx context.Context, c caller.Caller, taskID string, n int, in ContentInput) (Sheet, error) {
	t, err := es.tasks.For(ctx, c, taskID)
	if err != nil {
		return Sheet{}, err
	}
	i := slices.IndexFunc(t.Shares, func(s task.Share) bool { return s.N == n && (s.To == c.Agent() || c.Agent() == "") })
	if i < 0 {
		return Sheet{}, refusal.New(refusal.NotFound, "[check your inbox](inbox)", "nothing is shared with you under %s", event.ShareID(taskID, n))
	}
	s := t.Shares[i]
	if s.To != c.Agent() {
		return es.readSheet(ctx, c, taskID, Ref{Digest: s.Envelope}, in)
	}
	ref, err := es.takeShare(ctx, c, t.Task, s)
	if err != nil {
		return Sheet{}, err
	}
	return es.readSheet(ctx, c, taskID, ref, in)
}

// takeShare notes that what was shared is read, and seals what its receiver gets of it. It returns that.
func (es *Envelopes) takeShare(ctx context.Context, c caller.Caller, t task.Task, s task.Share) (Ref, error) {
	if s.Read {
		return Given(cmp.Or(s.Rendition, s.Envelope), s.Envelope), nil
	}
	out, err := es.tasks.Decide(ledger.ForRead(ctx), c.WithKey(""), "read-share", t.ID, nil, func(t task.Task, now time.Time) ([]event.Event, error) {
		rendered, err := es.sealer.Rendition(ctx, c.Workspace, t, s.Envelope, c.Agent(), s.Pack, false)
		if err != nil {
			return nil, err
		}
		cmd := handoff.Sequence{handoff.ReadShare{By: c.Principal, Share: s.N}}
		if rendered != nil {
			cmd = append(cmd, handoff.Render{By: c.Principal, Share: s.N, Agent: c.Agent(), Rendition: *rendered})
		}
		return handoff.Decide(t, cmd, now)
	})
	if err != nil {
		return Ref{}, err
	}
	for _, now := range out.State.Shares { // who else asked at the same time may have had it packed
		if now.N == s.N {
			s = now
		}
	}
	return Given(cmp.Or(s.Rendition, s.Envelope), s.Envelope), nil
}
