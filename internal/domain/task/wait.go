package task

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// The shortest and the longest pause of a handoff until a receiver may have room.
const (
	minRoomPause = 10 * time.Second
	maxRoomPause = 5 * time.Minute
)

// Wait delays a handoff until one of its candidates has room for another offer of the sender, which takes as long as it takes; or,
// before its first offer, until the first of the open circuits that alone prevent it admits a probe, at later, which counts as a
// retry. ok is false if neither is worth waiting for.
func (h *Handoff) Wait(full map[string]bool, later time.Time, jitter float64, now time.Time) (e event.RetryScheduled, ok bool) {
	if e, ok := h.awaitRoom(full, jitter, now); ok {
		return e, true
	}
	if !later.After(now) || h.Offer > 0 || h.Tries >= h.Retries {
		return e, false
	}
	return event.RetryScheduled{Handoff: h.N, Agent: h.Candidates[h.Next].Agent, Try: h.Tries + 1, At: later}, true
}

// AwaitsCircuit reports whether the handoff has been offered to nobody yet and waits until an open circuit admits a probe.
func (h *Handoff) AwaitsCircuit() bool {
	return h.Stage == event.Requested && h.Offer == 0 && h.Tries > 0 && !h.RetryAt.IsZero()
}

// awaitRoom is the pause of a handoff until the first of its remaining candidates that are full has room for another offer of the
// sender: as long as the handoff is old, from 10 s to 5 min, less up to half of it as jitter, from 0 to 1, says. It is no retry, and
// does not count as one: the candidate did not fail. ok is false if no candidate is full.
func (h *Handoff) awaitRoom(full map[string]bool, jitter float64, now time.Time) (e event.RetryScheduled, ok bool) {
	for i := min(h.Next, len(h.Candidates)); i < len(h.Candidates); i++ {
		agent := h.Candidates[i].Agent
		if !full[agent] {
			continue
		}
		try := 0
		if i == h.Next {
			try = h.Tries
		}
		pause := min(max(now.Sub(h.Requested), minRoomPause), maxRoomPause)
		pause -= time.Duration(jitter * float64(pause/2))
		return event.RetryScheduled{Handoff: h.N, Agent: agent, Try: try, At: now.Add(pause)}, true
	}
	return e, false
}
