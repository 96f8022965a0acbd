package app

import (
	"context"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/archive"
	"github.com/trapezehq/trapeze/internal/custody"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/roster"
	"github.com/trapezehq/trapeze/internal/routing"
)

// toPeople is how a receiver is named that is a desk of people: "human:DESK".
const toPeople = "human:"

// toPerson seals what somebody needs who takes a task over from a desk. People read what they want of it.
func (a *App) toPerson(ctx context.Context, workspace string, t custody.Task, to string, reason fact.Reason, detail string, now time.Time) (fact.Sealed, error) {
	sealed, _, err := a.handover(ctx, workspace, t, to, reason, detail, now)
	return sealed, err
}

// people takes the desks out of a list of receivers.
func people(to []string) (agents []string, desks []fact.Candidate) {
	for _, name := range to {
		if desk, is := strings.CutPrefix(name, toPeople); is {
			desks = append(desks, fact.Candidate{Desk: desk, Tier: fact.TierTarget})
			continue
		}
		agents = append(agents, name)
	}
	return agents, desks
}

// receivers are those whom a handoff was meant for, as a sender names them: agents and desks, or the first desk where there is
// nobody else.
func receivers(candidates []fact.Candidate) []string {
	var to, desks []string
	for _, c := range candidates {
		switch {
		case c.IsDesk() && c.Tier == fact.TierTarget:
			to = append(to, toPeople+c.Desk)
		case c.IsDesk():
			desks = append(desks, toPeople+c.Desk)
		case c.Tier == fact.TierTarget:
			to = append(to, c.Agent)
		}
	}
	if len(to) == 0 && len(desks) > 0 {
		return desks[:1]
	}
	return to
}

// checkDesks refuses desks where no people can take what is sent, or nobody is.
func (a *App) checkDesks(ctx context.Context, workspace string, kind fact.Kind, desks []fact.Candidate) error {
	if len(desks) > 0 && (kind == fact.Broadcast || kind == fact.Delegation) {
		return refusal.New(refusal.Invalid, "send it warm, cold or supervised", "a %s handoff cannot go to a desk of people", kind)
	}
	for _, d := range desks {
		if err := a.Staffed(ctx, workspace, d.Desk); err != nil {
			return err
		}
	}
	return nil
}

// routeOrDesk is the plan of a send: agents as routing finds them, and then the desks that were named.
func (a *App) routeOrDesk(ctx context.Context, c Caller, in SendInput, req routing.Request, desks []fact.Candidate, now time.Time) (roster.Plan, error) {
	if len(desks) > 0 && len(in.To) == 0 && in.Capability == "" && in.Channel == "" {
		return roster.Plan{Candidates: desks}, nil
	}
	p, err := a.route(ctx, c, in, req, now)
	if err == nil && len(desks) > 0 {
		code := refusal.CodeOf(p.Refused)
		if code == refusal.Unavailable || code == refusal.CircuitOpen { // nobody but people can take it now
			p.Passed = append(p.Passed, fact.Passed{Agent: strings.Join(in.To, ", "), Why: refusal.Clip(p.Refused.Error(), archive.MaxPreview)})
			p.Refused = nil
		}
		p.Candidates = append(p.Candidates, desks...)
	}
	return p, err
}
