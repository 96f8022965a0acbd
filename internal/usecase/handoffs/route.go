package handoffs

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/routes"
)

// route is the receivers that a handoff can go to: as routing proposes or, of a channel, its subscribers at this moment. Nobody stands in
// for a subscriber; one that is not fit is passed over.
func (h *Handoffs) route(ctx context.Context, c caller.Caller, in SendInput, req routing.Request, now time.Time) (routes.Plan, error) {
	switch {
	case in.Up.Name != "":
		return h.routes.Climb(ctx, c.Workspace, in.Up, req, now)
	case in.Channel == "":
		p, err := h.routes.Plan(ctx, c.Workspace, req, now)
		if in.FanOut { // nobody stands in for a receiver of a copy
			p.Passed = p.PassedTargets()
		}
		return p, err
	}
	all, err := h.channels.Receivers(ctx, c.Workspace, in.Channel, c.Agent())
	if err != nil {
		return routes.Plan{}, err
	}
	if len(all) == 0 {
		return routes.Plan{}, refusal.New(refusal.Conflict, "have agents [subscribe to it](channel subscribe), or name receivers", "nobody else subscribes to channel %s", in.Channel)
	}
	var passed []event.Passed
	for _, name := range all {
		known, err := h.agents.Known(ctx, c.Workspace, name, false)
		switch {
		case err != nil:
			return routes.Plan{}, err
		case known.Exists():
			req.Agents = append(req.Agents, agents.Exactly(name))
		default:
			passed = append(passed, event.Passed{Agent: name, Why: "is not registered"})
		}
	}
	var p routes.Plan
	if len(req.Agents) > 0 {
		if p, err = h.routes.Plan(ctx, c.Workspace, req, now); err != nil || p.Refused != nil {
			return p, err
		}
	}
	p.Candidates = slices.DeleteFunc(p.Candidates, func(k event.Candidate) bool { return k.Tier != event.TierTarget })
	for _, k := range p.Passed {
		if slices.Contains(all, k.Agent) {
			passed = append(passed, k)
		}
	}
	p.Passed = passed
	if len(p.Candidates) == 0 {
		p.Refused = unfitChannel(in.Channel, p.Passed)
	}
	return p, nil
}

// unfitChannel says that none of a channel's subscribers can take anything now.
func unfitChannel(name string, passed []event.Passed) error {
	const most = 8
	var why []string
	for _, k := range passed[:min(len(passed), most)] {
		why = append(why, k.Agent+": "+k.Why)
	}
	if len(passed) > most {
		why = append(why, "and others")
	}
	return refusal.New(refusal.Unavailable, "try again later, or name receivers", "nobody who subscribes to channel %s can take this now (%s)",
		name, strings.Join(why, "; "))
}

// toPeople is how a receiver is named that is a desk of people: "human:DESK".
const toPeople = "human:"

// people takes the desks out of a list of receivers.
func people(to []string) (agents []string, desks []event.Candidate) {
	for _, name := range to {
		if desk, is := strings.CutPrefix(name, toPeople); is {
			desks = append(desks, event.Candidate{Desk: desk, Tier: event.TierTarget})
			continue
		}
		agents = append(agents, name)
	}
	return agents, desks
}

// receivers are those that a handoff was meant for, as a sender names them: agents and desks, or the first desk where there is
// nobody else.
func receivers(candidates []event.Candidate) []string {
	var to, desks []string
	for _, c := range candidates {
		switch {
		case c.IsDesk() && c.Tier == event.TierTarget:
			to = append(to, toPeople+c.Desk)
		case c.IsDesk():
			desks = append(desks, toPeople+c.Desk)
		case c.Tier == event.TierTarget:
			to = append(to, c.Agent)
		}
	}
	if len(to) == 0 && len(desks) > 0 {
		return desks[:1]
	}
	return to
}

// checkDesks refuses desks where no people can take what is sent, or nobody is.
func (h *Handoffs) checkDesks(ctx context.Context, workspace string, kind event.Kind, desks []event.Candidate) error {
	if len(desks) > 0 && (kind == event.Broadcast || kind == event.Delegation) {
		return refusal.New(refusal.Invalid, "[send it](send) warm, cold or supervised", "a %s handoff cannot go to a desk of people", kind)
	}
	for _, d := range desks {
		if err := h.routes.Staffed(ctx, workspace, d.Desk); err != nil {
			return err
		}
	}
	return nil
}

// maxWhy is how many bytes are kept of why agents were passed over for people.
const maxWhy = 500

// routeOrDesk is the plan of a send: agents as routing finds them, and then the desks that were named.
func (h *Handoffs) routeOrDesk(ctx context.Context, c caller.Caller, in SendInput, req routing.Request, desks []event.Candidate, now time.Time) (routes.Plan, error) {
	if len(desks) > 0 && len(in.To) == 0 && in.Capability == "" && in.Channel == "" {
		return routes.Plan{Candidates: desks}, nil
	}
	p, err := h.route(ctx, c, in, req, now)
	if err == nil && len(desks) > 0 {
		code := refusal.CodeOf(p.Refused)
		if code == refusal.Unavailable || code == refusal.CircuitOpen { // nobody but people can take it now
			p.Passed = append(p.Passed, event.Passed{Agent: strings.Join(in.To, ", "), Why: refusal.Clip(p.Refused.Error(), maxWhy)})
			p.Refused = nil
		}
		p.Candidates = append(p.Candidates, desks...)
	}
	return p, err
}
