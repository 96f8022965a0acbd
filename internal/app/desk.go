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

// served refuses (unavailable) desks that are there for nobody.
func (a *App) served(ctx context.Context, workspace string, desks []fact.Candidate) error {
	for _, d := range desks {
		if d.Desk == fact.DeskOperators {
			continue
		}
		there, err := a.There(ctx, workspace)
		if err != nil {
			return err
		}
		if !there.Desk(d.Desk) {
			return refusal.New(refusal.Unavailable, "send it to human:operators, or have an operator add a person: trapeze agent add NAME --kind human --capability "+d.Desk,
				"nobody serves the desk %s", d.Desk)
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
