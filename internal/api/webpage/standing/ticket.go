package standing

import (
	"cmp"

	"github.com/trapezehq/trapeze/client"
)

// untold is the question of a takeover whose sender has said nothing.
const untold = "take the task over"

// ofTicket says for whom a task waits, and for what. It reports false if the task waits for no person: a takeover that is claimed is at work, or was handed on.
func ofTicket(t client.Task) (Standing, bool) {
	k := t.Ticket
	if k == nil || !k.Open() {
		return Standing{}, false
	}
	at := client.Waiting
	if k.Kind == "approval" {
		at = client.HandingOff
	}
	if t.State != at || k.Kind == "takeover" && k.ClaimedBy != "" {
		return Standing{}, false
	}
	text := "Waits for " + whom(k)
	switch asks := k.Question; k.Kind {
	case "approval":
		text += ", to approve its handoff" + said(asks)
	case "takeover":
		if text += ", to take it over"; asks != untold {
			text += said(asks)
		}
	default:
		text += said(asks)
	}
	return Standing{Tone: "ask", Text: text, Until: k.Due, Then: after(t, k), Link: "/tickets/" + k.ID, Do: "Go to the ticket"}, true
}

// said is what somebody said, after other words.
func said(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// whom names the people that a ticket waits for: who was asked by name or has claimed it, or the desk.
func whom(k *client.TaskTicket) string {
	desk := "the desk " + k.Desk
	if k.Level > 0 {
		desk += ", to which it has gone on"
	}
	switch {
	case k.ClaimedBy != "" && k.To != "":
		return k.ClaimedBy + ", who has claimed it"
	case k.ClaimedBy != "":
		return k.ClaimedBy + ", who has claimed it at " + desk
	}
	return cmp.Or(k.To, "a person of "+desk)
}

// after is what the server does when the time of those who have a ticket is over.
func after(t client.Task, k *client.TaskTicket) string {
	switch {
	case k.Then != "" && k.Level == 0:
		return "the desk " + k.Then + " is asked"
	case k.Kind == "approval":
		return "the task returns to its source"
	case k.Kind == "question":
		return cmp.Or(t.Owner, "it") + " goes on without an answer"
	}
	return "it goes to the dead letters"
}
