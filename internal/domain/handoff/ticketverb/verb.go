package ticketverb

import "github.com/trapezehq/trapeze/internal/domain/event"

// Verb is what a person does with an open ticket.
type Verb string

// The verbs of tickets.
const (
	Answer   Verb = "answer"
	Approve  Verb = "approve"
	Deny     Verb = "deny"
	Claim    Verb = "claim"
	Release  Verb = "release"
	Withdraw Verb = "withdraw" // a denial by the one who asks: takes the question or the task back
)

// All lists every verb of tickets.
var All = event.NewSet("a verb of a ticket", Answer, Approve, Deny, Claim, Release, Withdraw)

func (v *Verb) UnmarshalText(b []byte) error { return All.Decode(v, b) }
