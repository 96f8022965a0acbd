package figure_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/figure"
)

func TestARecentHandoffIsAsTheRecordHasIt(t *testing.T) {
	r := newRecord(t)
	kinds, reasons, stages := event.Kinds.Values(), event.Reasons.Values(), event.Stages.Values()
	var want []figure.Handoff
	for n := range len(kinds) * len(reasons) * len(stages) { // of every kind, for every reason, with every end
		h := figure.Handoff{
			Workspace: "main", Task: fmt.Sprint("t", n), N: 70_000 + n, Agent: "bob", Kind: kinds[n%len(kinds)], Reason: reasons[n%len(reasons)], Outcome: stages[n%len(stages)],
			Requested: noon.Add(time.Duration(n)*time.Hour + 7), Retries: 2, Tokens: 123_456, Completeness: 0.1, Utilisation: 0.3,
		}
		h.Delivery, h.Acceptance, h.Ended = time.Minute+1, time.Minute+2, h.Requested.Add(time.Minute+3)
		switch h.Outcome {
		case event.Rejected, event.Expired, event.Undeliverable, event.DeadLettered:
			h.Failed = true
		default:
		}
		r.add(h.Task, h.Requested.Sub(noon), event.Created{Task: h.Task}, event.HandoffRequested{Handoff: h.N, Kind: h.Kind, Reason: h.Reason}, event.OfferMade{Handoff: h.N, Offer: 1, To: []string{"bob"}},
			event.Rendered{Handoff: h.N, Tokens: h.Tokens, Completeness: h.Completeness, Utilisation: h.Utilisation, Budget: 1}, event.RetryScheduled{Handoff: h.N}, event.RetryScheduled{Handoff: h.N})
		r.add(h.Task, h.Requested.Add(h.Delivery).Sub(noon), event.Seen{Handoff: h.N, Offer: 1, Agent: "bob"})
		r.add(h.Task, h.Requested.Add(h.Acceptance).Sub(noon), event.Acknowledged{Handoff: h.N, Offer: 1, Agent: "bob"})
		if h.Outcome == event.Transferred {
			h.Hops, h.Lost = 1, true
			r.add(h.Task, h.Ended.Sub(noon), event.Moved{Handoff: h.N, To: "bob", Hop: true})
			r.add(h.Task, h.Ended.Sub(noon)+1, event.LeaseLost{Agent: "bob"})
		} else {
			r.add(h.Task, h.Ended.Sub(noon), event.Returned{Handoff: h.N, Outcome: h.Outcome})
		}
		want = append(want, h)
	}
	got, _ := r.tally(figure.Options{}).Recent("main", noon)
	if len(got) != len(want) {
		t.Fatalf("%d handoffs, want %d", len(got), len(want))
	}
	for i, h := range got {
		if fmt.Sprintf("%+v", exported(h)) != fmt.Sprintf("%+v", exported(want[i])) || !h.Seen() || !h.Accepted() {
			t.Fatalf("handoff %d:\n%+v, want\n%+v", i, h, want[i])
		}
	}
}

// exported is a handoff by what other packages know of it.
func exported(h figure.Handoff) figure.Handoff {
	return figure.Handoff{
		Workspace: h.Workspace, Task: h.Task, N: h.N, Agent: h.Agent, Kind: h.Kind, Reason: h.Reason, Requested: h.Requested, Ended: h.Ended, Outcome: h.Outcome, Failed: h.Failed,
		Retries: h.Retries, Hops: h.Hops, Lost: h.Lost, Delivery: h.Delivery, Acceptance: h.Acceptance, Tokens: h.Tokens, Completeness: h.Completeness, Utilisation: h.Utilisation,
	}
}
