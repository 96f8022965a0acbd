package demo

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// narrate describes the i-th entry of the record in a sentence; empty for an entry that repeats another.
func narrate(entries []client.AuditEntry, i int) string {
	e := entries[i]
	switch e.Event {
	case event.Created{}.EventName():
		return described(e, func(f event.Created) string {
			return "a task is created, with the route " + strings.Join(f.Route, " → ")
		})
	case event.HandoffRequested{}.EventName():
		return described(e, func(f event.HandoffRequested) string { return request(f, asked(entries[:i], e)) })
	case event.OfferMade{}.EventName():
		return described(e, offer)
	case event.RejectedOffer{}.EventName():
		return described(e, func(f event.RejectedOffer) string {
			return fmt.Sprintf("%s rejects it (%s): %s", f.Agent, f.Why, f.Detail)
		})
	case event.Moved{}.EventName():
		return described(e, func(f event.Moved) string {
			return fmt.Sprintf("%s accepts it from %s, and owns it (epoch %d)%s", f.To, f.From, f.Epoch, packed(entries[i+1:], e))
		})
	case event.Constrained{}.EventName():
		return described(e, func(f event.Constrained) string {
			return fmt.Sprintf("%s adds a constraint: %s", e.Agent, f.Constraint.Text)
		})
	case event.Progressed{}.EventName():
		return described(e, func(f event.Progressed) string { return e.Agent + ": " + f.Note })
	case event.LeaseLost{}.EventName():
		return described(e, func(f event.LeaseLost) string { return "no heartbeat of " + f.Agent + ": its lease has expired" })
	case event.Unanswered{}.EventName():
		return described(e, func(f event.Unanswered) string { return f.Agent + " has seen the offer, but does not answer" })
	case event.RetryScheduled{}.EventName():
		return described(e, func(f event.RetryScheduled) string { return "it will be offered to " + f.Agent + " again" })
	case event.ParkedTask{}.EventName():
		return described(e, func(f event.ParkedTask) string { return "moved to the dead letters: " + f.Detail })
	case event.Replayed{}.EventName():
		return described(e, func(f event.Replayed) string { return f.By + " replays it: " + f.Note })
	case event.Finished{}.EventName():
		return described(e, func(f event.Finished) string { return f.Agent + " completes the task" })
	case event.GaveUp{}.EventName():
		return described(e, func(f event.GaveUp) string { return f.Agent + " gives up: " + f.Detail })
	}
	return ""
}

func described[F any](e client.AuditEntry, say func(F) string) string {
	var f F
	if json.Unmarshal(e.Details, &f) != nil {
		return e.Event
	}
	return say(f)
}

// asked is the ask of the envelope that was sealed with a request.
func asked(before []client.AuditEntry, e client.AuditEntry) string {
	for _, b := range before {
		if b.Position == e.Position && isEvent(b, event.Sealed{}) {
			return described(b, func(f event.Sealed) string {
				var s content
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
		return fmt.Sprintf("the task is recovered from %s, and offered to %s", f.From, to)
	}
	if ask != "" {
		ask = ": " + ask
	}
	return fmt.Sprintf("%s hands off to %s%s", f.From, to, ask)
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
	return "" // its request was narrated
}

// packed describes how the prompt was packed for its receiver, which is recorded with the acceptance.
func packed(after []client.AuditEntry, e client.AuditEntry) string {
	for _, n := range after {
		if n.Position == e.Position && isEvent(n, event.Rendered{}) {
			return described(n, func(f event.Rendered) string {
				left := fmt.Sprintf("%d parts omitted", f.Omitted)
				switch f.Omitted {
				case 0:
					left = "nothing omitted"
				case 1:
					left = "1 part omitted"
				}
				return fmt.Sprintf(" – its prompt: %d of %d tokens, %s", f.Tokens, f.Budget, left)
			})
		}
	}
	return ""
}

// isEvent reports whether an entry is an event of the type of f.
func isEvent(e client.AuditEntry, f event.Event) bool { return e.Event == f.EventName() }
