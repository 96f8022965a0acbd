package demo

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// tell says in a sentence what the i-th entry of the record means; empty for what would only repeat another.
func tell(entries []client.AuditEntry, i int) string {
	e := entries[i]
	switch e.Event {
	case event.Created{}.EventName():
		return told(e, func(f event.Created) string { return "a task is created; its route: " + strings.Join(f.Route, " → ") })
	case event.HandoffRequested{}.EventName():
		return told(e, func(f event.HandoffRequested) string { return request(f, asked(entries[:i], e)) })
	case event.OfferMade{}.EventName():
		return told(e, offer)
	case event.RejectedOffer{}.EventName():
		return told(e, func(f event.RejectedOffer) string {
			return fmt.Sprintf("%s turns it down (%s): %s", f.Agent, f.Why, f.Detail)
		})
	case event.Moved{}.EventName():
		return told(e, func(f event.Moved) string {
			return fmt.Sprintf("%s has it; %s has let go (epoch %d)%s", f.To, f.From, f.Epoch, packed(entries[i+1:], e))
		})
	case event.Constrained{}.EventName():
		return told(e, func(f event.Constrained) string {
			return fmt.Sprintf("%s adds a constraint: %s", e.Agent, f.Constraint.Text)
		})
	case event.Progressed{}.EventName():
		return told(e, func(f event.Progressed) string { return e.Agent + ": " + f.Note })
	case event.LeaseLost{}.EventName():
		return told(e, func(f event.LeaseLost) string { return "no life from " + f.Agent + ": its lease has ended" })
	case event.Unanswered{}.EventName():
		return told(e, func(f event.Unanswered) string { return f.Agent + " has seen the offer and does not answer" })
	case event.RetryScheduled{}.EventName():
		return told(e, func(f event.RetryScheduled) string { return "it will be offered to " + f.Agent + " again" })
	case event.ParkedTask{}.EventName():
		return told(e, func(f event.ParkedTask) string { return "to the dead letters: " + f.Detail })
	case event.Replayed{}.EventName():
		return told(e, func(f event.Replayed) string { return f.By + " replays it: " + f.Note })
	case event.Finished{}.EventName():
		return told(e, func(f event.Finished) string { return f.Agent + " completes the task" })
	case event.GaveUp{}.EventName():
		return told(e, func(f event.GaveUp) string { return f.Agent + " gives up: " + f.Detail })
	}
	return ""
}

func told[F any](e client.AuditEntry, say func(F) string) string {
	var f F
	if json.Unmarshal(e.Details, &f) != nil {
		return e.Event
	}
	return say(f)
}

// asked is what the receiver is asked to do, as the envelope says that was sealed with the request.
func asked(before []client.AuditEntry, e client.AuditEntry) string {
	for _, b := range before {
		if b.Position == e.Position && caught(b, event.Sealed{}) {
			return told(b, func(f event.Sealed) string {
				var s sheet
				if json.Unmarshal(f.Bytes, &s) != nil {
					return ""
				}
				return s.Task.Ask
			})
		}
	}
	return ""
}

func request(f event.HandoffRequested, ask string) string {
	to := f.Capability
	if len(f.Candidates) > 0 {
		to = f.Candidates[0].Agent
	}
	if f.Recovery {
		return fmt.Sprintf("the task is recovered from %s: %s is asked", f.From, to)
	}
	if ask != "" {
		ask = ": " + ask
	}
	return fmt.Sprintf("%s hands on to %s%s", f.From, to, ask)
}

func offer(f event.OfferMade) string {
	to := strings.Join(f.To, ", ")
	switch {
	case f.Try > 0:
		return fmt.Sprintf("offered to %s again (offer %d)", to, f.Offer)
	case f.Tier == event.TierFallback && f.Offer > 1:
		return "offered to the fallback " + to
	case f.Offer > 1:
		return "offered to " + to
	}
	return "" // its request was told
}

// packed says how what a receiver got was fitted to it: that is on record with its acceptance.
func packed(after []client.AuditEntry, e client.AuditEntry) string {
	for _, n := range after {
		if n.Position == e.Position && caught(n, event.Rendered{}) {
			return told(n, func(f event.Rendered) string {
				left := fmt.Sprintf("%d parts left out", f.Omitted)
				switch f.Omitted {
				case 0:
					left = "nothing left out"
				case 1:
					left = "1 part left out"
				}
				return fmt.Sprintf(" – its prompt: %d of %d tokens, %s", f.Tokens, f.Budget, left)
			})
		}
	}
	return ""
}

// caught reports whether an entry is the kind that this place in the story waits for.
func caught(e client.AuditEntry, f event.Event) bool { return e.Event == f.EventName() }
