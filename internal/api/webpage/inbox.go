package webpage

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/trapezehq/trapeze/client"
)

// inbox is the tickets that wait for people, or those that were closed.
type inbox struct {
	Tickets []client.Ticket
	Past    bool
	Next    string
}

func (v *visit) inbox(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	past := q.Get("past") != ""
	f := client.TicketFilter{Desk: q.Get("desk"), After: q.Get("after"), Limit: 100}
	if past {
		f.State = "closed"
	}
	got, err := v.api.Tickets(r.Context(), f)
	if err != nil {
		return err
	}
	in := inbox{Tickets: got.Tickets, Past: past}
	if !past {
		byDue(in.Tickets, got.Next != "")
	}
	for i := range in.Tickets {
		if err := v.addOptions(r.Context(), &in.Tickets[i]); err != nil {
			return err
		}
	}
	if got.Next != "" {
		q.Set("after", got.Next)
		in.Next = "/inbox?" + q.Encode()
	}
	return v.show(w, r, "inbox", page{Title: "Inbox", Live: "*", Body: in})
}

// byDue sorts tickets by the time at which somebody else decides. That is what the asker wants: of more tickets than fit on a page, those
// of each asker come in turn.
func byDue(list []client.Ticket, some bool) {
	slices.SortStableFunc(list, func(a, b client.Ticket) int { return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Position, b.Position)) })
	if !some {
		return
	}
	had, turn := map[string]int{}, map[string]int{}
	for _, t := range list {
		turn[t.ID], had[t.By] = had[t.By], had[t.By]+1
	}
	slices.SortStableFunc(list, func(a, b client.Ticket) int { return cmp.Compare(turn[a.ID], turn[b.ID]) })
}

// addOptions adds the options of an open question, which lists do not have. To fetch them is a read of the ticket, which is recorded:
// once for each session, however often the page is shown.
func (v *visit) addOptions(ctx context.Context, t *client.Ticket) error {
	if t.Kind != "question" || !t.Open() {
		return nil
	}
	key := v.session.ID + " " + t.ID
	options, ok := v.options.Get(key)
	if !ok {
		whole, err := v.api.Ticket(ctx, t.ID, 0)
		if err != nil {
			return err
		}
		options = whole.Options
		v.options.Add(key, options)
	}
	t.Options = options
	return nil
}

// ticketPage is a ticket with what it is about.
type ticketPage struct {
	client.Ticket
	Prompt  string // of the envelope that is to be decided on
	Unread  string // why there is no prompt
	Earlier []client.Answer
}

func (v *visit) ticket(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	t, err := v.api.Ticket(ctx, r.PathValue("ticket"), 0)
	if err != nil {
		return err
	}
	body := ticketPage{Ticket: t}
	of := t.Task
	if t.Kind == "approval" && t.Handoff > 0 {
		of = fmt.Sprintf("%s.h%d", t.Task, t.Handoff)
	}
	if sheet, err := v.api.Content(ctx, of, client.ContentInput{Render: true}); err != nil {
		body.Unread = err.Error()
	} else {
		body.Prompt = sheet.Prompt
	}
	if task, err := v.api.Task(ctx, t.Task); err == nil {
		body.Earlier = task.Answers
	}
	return v.show(w, r, "ticket", page{Title: "Ticket " + t.ID, Live: t.Task, Body: body})
}

func (v *visit) actOnTicket(w http.ResponseWriter, r *http.Request) error {
	id, verb := r.PathValue("ticket"), r.PathValue("verb")
	err := v.decide(client.WithKey(r.Context(), r.PostFormValue("key")), r, id, verb)
	return v.after(w, r, "/tickets/"+url.PathEscape(id), verb, err)
}

func (v *visit) decide(ctx context.Context, r *http.Request, id, verb string) (err error) {
	detail := r.PostFormValue("detail")
	switch verb {
	case "approve":
		_, err = v.api.Approve(ctx, id, client.ApproveInput{Digest: r.PostFormValue("digest"), Detail: detail})
	case "deny":
		_, err = v.api.Deny(ctx, id, client.DenyInput{Detail: detail})
	case "answer":
		_, err = v.api.Answer(ctx, id, client.AnswerInput{Answer: cmp.Or(r.PostFormValue("option"), r.PostFormValue("answer")), Detail: detail})
	case "claim":
		_, err = v.api.Claim(ctx, id)
	case "release":
		epoch, _ := strconv.ParseUint(r.PostFormValue("epoch"), 10, 64) // 0: not a takeover
		_, err = v.api.Release(ctx, id, client.ReleaseInput{Epoch: epoch, Detail: detail})
	default:
		return &client.Error{Status: http.StatusNotFound, Code: client.NotFound, Message: fmt.Sprintf("a ticket cannot be %.20q", verb), Hint: "go back to the ticket"}
	}
	return err
}
