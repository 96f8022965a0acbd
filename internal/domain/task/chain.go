package task

import "github.com/trapezehq/trapeze/internal/domain/event"

// Chain is where a task stands in an escalation chain. A chain is shared and nobody uses it up: each task has its own place.
type Chain struct {
	Chain string `json:"name"`            // empty: the task was not escalated along one
	Level int    `json:"level"`           // the highest that was asked, from 1
	Agent string `json:"agent,omitempty"` // of that level, who took it; empty: nobody did
}

// Climbs reports whether an offer to a candidate of the handoff goes one level up the escalation chain. The first offer of a
// handoff whose reason is escalation does not: the request was counted. Nor does one to another of the level that was reached.
func (t *Task) Climbs(c event.Candidate, offer, try int) bool {
	h := t.Handoff
	if c.Level > 0 && t.Chain.Chain == h.Chain && c.Level <= t.Chain.Level {
		return false
	}
	return c.Tier == event.TierEscalation && try == 0 && (offer > 1 || h.Reason != event.ReasonEscalation)
}

// reachLevel notes that a level of the handoff's chain is asked.
func (t *Task) reachLevel(level int) {
	if h := t.Handoff; level > 0 && (t.Chain.Chain != h.Chain || t.Chain.Level < level) {
		t.Chain = Chain{Chain: h.Chain, Level: level}
	}
}
