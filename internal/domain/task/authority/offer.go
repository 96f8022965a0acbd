package authority

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// OpenOffer returns the handoff with an open offer to an agent; offer 0 means the newest.
func OpenOffer(t task.Task, agent string, handoff, offer int) (*task.Handoff, error) {
	if err := RequireLive(t); err != nil {
		return nil, cmp.Or(calledOff(t, agent, handoff), err)
	}
	h := t.Handoff
	if h == nil || handoff > h.N || handoff < 1 {
		return nil, refusal.New(refusal.NotFound, "[check your inbox](inbox)", "task %s has no handoff %d", t.ID, handoff)
	}
	over := func(why string) error {
		if t.Owner == agent && agent != "" {
			return task.AlreadyOwned(&t, refusal.Expired)
		}
		if t.Owner != "" && !strings.Contains(why, t.Owner) {
			why += "; " + t.Owner + " owns the task"
		}
		return refusal.New(refusal.Expired, noOffer,
			"the offer of handoff %s is over: %s", event.HandoffID(t.ID, handoff), why)
	}
	switch {
	case handoff == h.N && h.Stage == event.Accepted && h.Receiver == agent && t.Owner != agent:
		return nil, refusal.New(refusal.Expired, "wait until the sender confirms: [the task shows it](task wait), and then who owns it",
			"%s has accepted handoff %s already, and its sender has not confirmed it yet", agent, event.HandoffID(t.ID, handoff))
	case handoff < h.N:
		return nil, over(since(h))
	case h.Stage == event.Transferred && t.Owner == h.Receiver:
		return nil, over("it was accepted by " + h.Receiver + ", who owns the task")
	case h.Stage == event.Accepted || h.Stage == event.Transferred:
		return nil, over("it was accepted by " + h.Receiver)
	case t.State == event.Parked:
		return nil, refusal.New(refusal.Expired, task.Replay(t.ID),
			"the offer of handoff %s is over: the task is in the dead letters", event.HandoffID(t.ID, handoff))
	case h.Stage == event.AwaitingApproval:
		return nil, refusal.New(refusal.Conflict, "wait until it is in [your inbox](inbox wait)", "handoff %s is not offered yet: it waits for an approval",
			event.HandoffID(t.ID, handoff))
	case h.Stage == event.Requested:
		return nil, over("it will be offered again")
	case h.Stage != event.Offered:
		return nil, over(because("the handoff is "+string(h.Stage), h.Why))
	case offer > h.Offer:
		return nil, over("its newest offer is " + strconv.Itoa(h.Offer))
	case offer != 0 && offer != h.Offer:
		return nil, over("it has been offered again since")
	case !slices.Contains(h.To, agent):
		return nil, over("it is not addressed to " + agent)
	}
	return h, nil
}

// Unaccepted is why nobody accepted an offer whose time is over.
func Unaccepted(h *task.Handoff) string {
	switch {
	case len(h.To) != 1:
		return "nobody accepted the offer in time"
	case len(h.SeenBy) > 0:
		return h.To[0] + " saw the offer and did not answer in time"
	}
	return h.To[0] + " did not see the offer in time"
}
