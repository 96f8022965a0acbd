package handoff

import (
	"fmt"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// recover replaces an owner that is lost or not making progress.
func (d *decision) recover(c Tick, now time.Time) {
	lost, stuck := d.t.Owner, d.t.Lease.After(now)
	if !d.attempt(now) {
		return
	}
	detail := lost + " showed no life until its lease ended"
	if stuck {
		detail = lost + " reported no progress in " + d.t.Times.Progress.String()
	}
	candidates := event.Distinct(c.Recovery)
	if len(candidates) == 0 && len(c.Passed) > 0 && !stuck {
		d.do(park(event.ParkOwnerLost, "the owner "+lost+" was lost and nobody can take over: "+event.WhyPassed(c.Passed), now))
		return
	}
	if len(candidates) == 0 {
		candidates = []event.Candidate{{Agent: lost, Tier: event.TierTarget}}
	}
	d.replace(replacing{candidates: candidates, chain: c.Chain, passed: c.Passed, detail: detail, envelope: c.Envelope, stuck: stuck}, now)
	passed, ok := d.offerFrom(0, nil, c.Hints, now)
	switch why := "nobody can take over: " + event.WhyPassed(passed); {
	case ok || d.waits(c.Hints, now):
	case stuck:
		d.do(task.Returned(&d.t, event.Undeliverable, why, false, now))
	default:
		d.do(park(event.ParkOwnerLost, "the owner "+lost+" was lost and "+why, now))
	}
}

// attempt records that the owner was lost, or is not making progress. It parks the task, and reports false, at the limit.
func (d *decision) attempt(now time.Time) bool {
	if t := d.t; t.Lease.After(now) {
		return d.again(event.OwnerStuck{Agent: t.Owner, Sender: t.Giver, Epoch: t.Epoch, Detail: "no progress in " + t.Times.Progress.String(), At: now}, "is stuck", now)
	}
	return d.again(event.LeaseLost{Agent: d.t.Owner, Sender: d.t.Giver, Epoch: d.t.Epoch, At: now}, "was lost", now)
}

// again is attempt with the event and its words.
func (d *decision) again(e event.Event, what string, now time.Time) bool {
	d.do(e)
	limit := d.t.Limits.Attempts
	if d.t.Used.Attempts < limit {
		return true
	}
	d.do(park(event.ParkLimit, fmt.Sprintf("attempts limit %d reached; the owner %s %s again", limit, d.t.Owner, what), now))
	return false
}

// replacing says how an owner is replaced: candidates, reason, and the principal that reported it, if it was no clock.
type replacing struct {
	candidates []event.Candidate
	chain      string
	passed     []event.Passed
	detail, by string
	envelope   event.Sealed
	stuck      bool
	said       bool // reported by a principal, not by a clock: counted when the owner is replaced
}

// replace requests the handoff from an owner that is lost or stuck. An envelope that is not based on the newest one is ignored.
func (d *decision) replace(c replacing, now time.Time) {
	if c.envelope.Digest != "" && c.envelope.Parent == d.t.Envelope {
		d.do(c.envelope)
	}
	d.do(event.HandoffRequested{
		Handoff: d.t.NextHandoff(), Kind: event.Warm, From: d.t.Owner, Recovery: true, Stuck: c.stuck, Attempt: !c.said, Reason: event.ReasonRecovery,
		Detail: c.detail, Candidates: c.candidates, Chain: c.chain, Passed: c.passed, Confirm: event.ConfirmAuto, By: c.by, Timeouts: d.t.Times,
		Retries: retries(nil), Envelope: d.t.Envelope, Before: d.t.Standing(), At: now,
	})
}
