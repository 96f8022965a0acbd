package handoffs

import (
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
)

// Again asks for a handoff that failed as it was asked for, with a note of why: its kind, confirm, clocks, retries, approver, permissions and
// packing, to those it was meant for. A channel means who subscribes to it now; a stop of a route, or a new route (rerouted), the
// next one on it. What it handed over goes along. Who asked for it then may not approve it now.
func Again(t task.Task, h *task.Handoff, note string, rerouted bool) SendInput {
	send := SendInput{
		Task: t.ID, Channel: h.Channel, Kind: h.Kind, Reason: h.Reason, Detail: both(h.Detail, note), Content: envelopes.Content{Again: h.Envelope}, Confirm: h.Confirm, Timeouts: h.Times,
		Retries: &h.Retries, ReturnHome: h.ReturnHome, Approver: h.Approver, Permissions: h.Permits, Pack: h.Pack, Asked: h.By,
	}
	if h.Kind == event.Delegation || h.Kind == event.Broadcast && !h.Claim { // it gave a child task to its agent: its parent does not request it again
		send.Kind = event.Warm
	}
	send.Timeouts.Wait = 0 // of the task's own children, which this makes none of
	switch {
	case (rerouted || h.RouteStep) && len(t.Route) > 0:
		send.Channel = ""
	case h.Channel == "":
		send.To, send.Capability = receivers(h.Candidates), h.Capability
	}
	return send
}

// shortened stands at the end of a detail that was shortened for a note.
const shortened = " […]; "

// both is the detail of a handoff with a note. The note is whole; where there is no room for both, the detail is shortened.
func both(detail, note string) string {
	switch {
	case detail == "":
		return note
	case note == "":
		return detail
	case len(detail)+len("; ")+len(note) <= event.MaxText:
		return detail + "; " + note
	}
	room := event.MaxText - len(shortened) - len(note)
	if room <= 0 {
		return note
	}
	return refusal.Clip(detail, room) + shortened + note
}
