package handoffs

import (
	"cmp"

	"github.com/trapezehq/trapeze/internal/domain/task"
)

// Again asks for a handoff that failed as it was asked for, with a note of why: its kind, confirm, clocks, retries, approver, permissions and
// packing, to those it was meant for. A channel means who subscribes to it now; a stop of a route, or a new route (rerouted), the
// next one on it. Who asked for it then may not approve it now.
func Again(t task.Task, h *task.Handoff, note string, rerouted bool) SendInput {
	send := SendInput{
		Task: t.ID, Channel: h.Channel, Kind: h.Kind, Reason: h.Reason, Detail: cmp.Or(note, h.Detail), Confirm: h.Confirm, Timeouts: h.Times,
		Retries: &h.Retries, ReturnHome: h.ReturnHome, Approver: h.Approver, Permissions: h.Permits, Pack: h.Pack, Asked: h.By,
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
