package show

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// Ticket is the state of a ticket.
type Ticket struct {
	ID      string   `json:"id"`
	Task    string   `json:"task"`
	Kind    string   `json:"kind"`
	State   string   `json:"state"`
	Asked   string   `json:"question,omitempty"`
	Options []string `json:"options,omitempty"`
	Outcome string   `json:"outcome,omitempty"`
	Answer  string   `json:"answer,omitempty"`
	By      string   `json:"by,omitempty"`
}

// TicketOf describes a ticket.
func TicketOf(k client.Ticket) Ticket {
	return Ticket{k.ID, k.Task, k.Kind, k.State, k.Question, k.Options, k.Outcome, k.Answer, k.ClosedBy}
}

// Receiver names the receiver of a ticket.
func Receiver(k client.Ticket) string { return cmp.Or(k.To, "the desk "+k.Desk) }

// closing is how a ticket is closed: a verb and its tool, which the call has yet to name. The first verb that the caller may use counts.
var closing = [][2]string{
	{"answer", "{decide}: answer"},
	{"approve", "{decide}: approve or deny"},
	{"claim", "{decide}: claim"},
	{"withdraw", "{decide}: deny withdraws it"},
	{"deny", "{decide}: deny"},
	{"release", "{decide}: release"},
}

// Closes says in brackets how the caller closes a ticket, with the tool yet to be named; empty: the caller may not.
func Closes(k client.Ticket) string {
	for _, way := range closing {
		if slices.Contains(k.Verbs, way[0]) {
			return " [" + way[1] + "]"
		}
	}
	return ""
}

// TicketText describes the state of a ticket.
func TicketText(k client.Ticket) string {
	s := "Ticket " + k.ID + " (" + k.Kind + " for " + Receiver(k) + ") is " + k.State
	if k.Open() {
		s += ", due " + k.Due.Format(time.RFC3339) + "."
		if k.Question != "" {
			s += "\n" + Quoted(strings.TrimSpace(k.Question))
		}
		if len(k.Options) > 0 {
			s += "\nAllowed answers: " + Lines(k.Options)
		}
		return s
	}
	s += ": " + k.Outcome
	if k.ClosedBy != "" {
		s += " by " + k.ClosedBy
	}
	for _, text := range []string{k.Answer, k.Detail} {
		if text != "" {
			s += "\n" + Quoted(strings.TrimSpace(text))
		}
	}
	return s
}
