package app

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/caller"
	"github.com/trapezehq/trapeze/internal/channel"
	"github.com/trapezehq/trapeze/internal/docket"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/handoff"
	"github.com/trapezehq/trapeze/internal/ledger"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/registry"
	"github.com/trapezehq/trapeze/internal/roster"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/stream"
)

// checkChannel refuses what does not go together with publishing.
func (in SendInput) checkChannel() error {
	switch {
	case in.Channel == "":
		return nil
	case len(in.To) > 0 || in.Capability != "":
		return refusal.New(refusal.Invalid, "publish to the channel, or name receivers, in two handoffs", "a channel names the receivers already")
	case in.Kind != fact.Broadcast:
		return refusal.New(refusal.Invalid, "use the kind broadcast, or leave it out", "a %s handoff is not published to a channel", in.Kind)
	}
	return channel.CheckName(in.Channel)
}

// route is whom a handoff can go to: as routing says or, of a channel, its subscribers at this moment. Nobody stands in
// for a subscriber; one that is not fit is passed over.
func (a *App) route(ctx context.Context, c Caller, in SendInput, req routing.Request, now time.Time) (roster.Plan, error) {
	switch {
	case in.Up.Name != "":
		return a.Climb(ctx, c.Workspace, in.Up, req, now)
	case in.Channel == "":
		return a.Plan(ctx, c.Workspace, req, now)
	}
	all, err := a.Receivers(ctx, c.Workspace, in.Channel, c.Agent())
	if err != nil {
		return roster.Plan{}, err
	}
	if len(all) == 0 {
		return roster.Plan{}, refusal.New(refusal.Conflict, "have agents subscribe to it, or name receivers", "nobody else subscribes to channel %s", in.Channel)
	}
	var passed []fact.Passed
	for _, name := range all {
		known, err := a.Known(ctx, c.Workspace, name, false)
		switch {
		case err != nil:
			return roster.Plan{}, err
		case known.Exists():
			req.Agents = append(req.Agents, name)
		default:
			passed = append(passed, fact.Passed{Agent: name, Why: "is not registered"})
		}
	}
	var p roster.Plan
	if len(req.Agents) > 0 {
		if p, err = a.Plan(ctx, c.Workspace, req, now); err != nil || p.Refused != nil {
			return p, err
		}
	}
	p.Candidates = slices.DeleteFunc(p.Candidates, func(k fact.Candidate) bool { return k.Tier != fact.TierTarget })
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
func unfitChannel(name string, passed []fact.Passed) error {
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

// JoinClaims lets an agent that became ready by the entry at a position join the open claims for its capabilities, and
// those of channels to which it subscribed already when they were published.
func (a *App) JoinClaims(ctx context.Context, workspace, name string, at ledger.Position) error {
	state, err := a.Known(ctx, workspace, name, true)
	if err != nil || state.Spec.Kind == registry.KindHuman || state.Readiness() != registry.Ready || registry.CircuitAt(state, a.now()).Phase != registry.Closed {
		return err
	}
	if err := a.views.Wait(ctx, at); err != nil {
		return stream.Unavailable(err)
	}
	ids, err := a.views.Missed(ctx, workspace, name)
	if err != nil {
		return stream.Unavailable(err)
	}
	for _, capability := range state.Spec.Capabilities {
		more, err := a.views.Claims(ctx, workspace, capability)
		if err != nil {
			return stream.Unavailable(err)
		}
		ids = append(ids, more...)
	}
	for _, id := range ids {
		if err := a.joinClaim(ctx, workspace, name, id); err != nil {
			return err
		}
	}
	return nil
}

// joinClaim lets an agent join one claim, unless it has left the channel that it was published to, or its token budget is
// too small for the envelope.
func (a *App) joinClaim(ctx context.Context, workspace, name, id string) error {
	task, n, err := fact.ParseHandoffID(id)
	if err != nil {
		return err
	}
	f, err := a.tasks.Load(ctx, docket.StreamOf(workspace, task), true)
	if err != nil {
		return err
	}
	h := f.State.InFlight()
	if h == nil || h.N != n {
		return nil
	}
	if h.Channel != "" {
		if still, err := a.Subscribes(ctx, workspace, h.Channel, name); err != nil || !still {
			return err
		}
	}
	if err := a.sealer.Fits(ctx, workspace, task, h.Envelope, name, h.Pack); err != nil {
		return caller.Tolerate(err)
	}
	return a.tell(ctx, workspace, task, handoff.JoinClaim{Agent: name, Handoff: n})
}
