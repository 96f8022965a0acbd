package webpage

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/trapezehq/trapeze/client"

	"github.com/trapezehq/trapeze/internal/api/webpage/form"
	"github.com/trapezehq/trapeze/internal/api/webpage/human"
	"github.com/trapezehq/trapeze/internal/api/webpage/sheet"
)

// inbox is the tickets that wait for people, or those that were closed.
type inbox struct {
	Tickets []client.Ticket
	Past    bool
	Next    string
}

// pastLimit is how many tickets that were closed a page shows, and earlierLimit how many of the same task are beside a ticket.
const (
	pastLimit    = 25
	earlierLimit = 10
)

func (v *visit) inbox(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	past := q.Get("past") != ""
	f := client.TicketFilter{Desk: q.Get("desk"), Task: q.Get("task"), Order: "due", After: q.Get("after"), Whole: true, Limit: 100}
	if past {
		f.State, f.Order, f.Limit = "closed", "closed", pastLimit
	}
	got, err := v.api.Tickets(r.Context(), f)
	if err != nil {
		return err
	}
	in := inbox{Past: past, Tickets: got.Tickets}
	if got.Next != "" {
		q.Set("after", got.Next)
		in.Next = "/inbox?" + q.Encode()
	}
	return v.show(w, r, "inbox", page{Title: "Inbox", Live: everything, Body: in})
}

// ticketPage is a ticket with what it is about.
type ticketPage struct {
	client.Ticket
	Prompt    string           // of the envelope that is to be decided on
	Unread    string           // why there is no prompt
	Left      []sheet.Omission // what the envelope lists as left out
	Digest    string           // of what is shown: an approval is of that
	For       string           // the receiver whom it is packed for, before it accepts
	Undecided bool             // several may receive it
	Of        []string         // the ids of what this is made of: if one of them changes, it is to be read again
	Story     bool             // the person may see the task
	Earlier   []client.Ticket  // of the same task, that were closed
}

func (v *visit) ticket(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	t, err := v.api.Ticket(ctx, r.PathValue("ticket"), 0)
	if err != nil {
		return err
	}
	_, err = v.api.Task(ctx, t.Task)
	body := ticketPage{Ticket: t, Story: err == nil}
	of := t.Task
	if t.Kind == "approval" && t.Handoff > 0 {
		of = fmt.Sprintf("%s.h%d", t.Task, t.Handoff)
	}
	if body.Story { // others read none of its envelopes
		got, err := v.api.Content(ctx, of, client.ContentInput{Render: true})
		body.Prompt, body.Digest, body.For, body.Undecided = got.Prompt, got.Digest, got.For, got.Undecided
		switch {
		case errors.Is(err, client.NotFound), hidden(err):
			body.Unread = "This is the beginning of the task. What the receiver reads is for the task's owner and requester, and for operators."
		case err != nil:
			body.Unread = err.Error()
		case len(got.Envelope) > 0:
			var e sheet.Envelope
			if err := json.Unmarshal(got.Envelope, &e); err != nil {
				return err
			}
			body.Left, body.Of = e.Left(), e.Items()
		}
	}
	if t.Kind == "approval" && t.Open() {
		body.Of = append(body.Of, t.Task) // its constraints
		if body.For != "" {
			body.Of = append(body.Of, body.For) // whom it is packed for
		}
	}
	if body.Earlier, err = v.earlier(ctx, t); err != nil {
		return err
	}
	shown := page{Title: human.Short(60, subject(t)), Live: following(append(body.Of, t.Task)...), Body: body}
	if !t.Open() {
		shown.Onward = "/inbox"
	}
	return v.show(w, r, "ticket", shown)
}

// earlier lists the tickets of the same task that were closed, as far as the person may see them.
func (v *visit) earlier(ctx context.Context, t client.Ticket) ([]client.Ticket, error) {
	list, err := v.api.Tickets(ctx, client.TicketFilter{Task: t.Task, State: "closed", Order: "closed", Whole: true, Limit: earlierLimit})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list.Tickets, func(k client.Ticket) bool { return k.ID == t.ID }), nil
}

// asked reports whether the reader may not approve because they asked for the handoff: nothing else keeps an operator from an approval that nobody has claimed.
func asked(me client.Me, t client.Ticket) bool {
	if t.Kind != "approval" || !t.Open() || !acts(me) || can(t, "approve") {
		return false
	}
	return me.Is(t.By) || t.ClaimedBy == "" && operates(me)
}

func (v *visit) actOnTicket(w http.ResponseWriter, r *http.Request) error {
	id, verb := r.PathValue("ticket"), r.PathValue("verb")
	err := v.decide(client.WithKey(r.Context(), r.PostFormValue("key")), r, id, verb)
	if err != nil {
		err = v.decidedBefore(r.Context(), id, err)
	}
	return v.after(w, r, "/tickets/"+url.PathEscape(id), verb, err)
}

// decidedBefore is the refusal of an action on a ticket that somebody has closed meanwhile: it says who, and how. Other refusals are returned as they are.
func (v *visit) decidedBefore(ctx context.Context, id string, refused error) error {
	t, err := v.api.Ticket(ctx, id, 0)
	if err != nil || t.Open() {
		return refused
	}
	message := "the ticket was closed before: it is " + t.Outcome
	if t.ClosedBy != "" {
		message += " by " + t.ClosedBy
	}
	if t.Answer != "" {
		message += fmt.Sprintf(", with the answer “%s”", human.Short(200, t.Answer))
	}
	return &client.Error{Status: http.StatusConflict, Code: client.Conflict, Message: message, Hint: "go on in the inbox, or look at the task's story"}
}

func (v *visit) decide(ctx context.Context, r *http.Request, id, verb string) (err error) {
	detail := r.PostFormValue("detail")
	switch verb {
	case "withdraw": // which is a denial by the one who asks
		_, err = v.api.Deny(ctx, id, client.DenyInput{Epoch: form.Epoch(r), Detail: detail})
	case "approve":
		if r.PostFormValue("digest") == "" {
			return form.Invalid("the form does not say what was read", "read it here, and approve it then")
		}
		_, err = v.api.Approve(ctx, id, client.ApproveInput{Digest: r.PostFormValue("digest"), Detail: detail})
	case "deny":
		_, err = v.api.Deny(ctx, id, client.DenyInput{Epoch: form.Epoch(r), Detail: detail})
	case "answer":
		_, err = v.api.Answer(ctx, id, client.AnswerInput{Answer: cmp.Or(r.PostFormValue("option"), r.PostFormValue("answer")), Detail: detail})
	case "claim":
		_, err = v.api.Claim(ctx, id)
	case "release":
		_, err = v.api.Release(ctx, id, client.ReleaseInput{Epoch: form.Epoch(r), Detail: detail})
	default:
		return &client.Error{Status: http.StatusNotFound, Code: client.NotFound, Message: fmt.Sprintf("a ticket cannot be %.20q", verb), Hint: "go back to the ticket"}
	}
	return err
}
