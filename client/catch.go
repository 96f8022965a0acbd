package client

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/client/wire"
)

// Handoff shows how a handoff stands.
func (c *Client) Handoff(ctx context.Context, id string) (Handoff, error) {
	return ask[Handoff](ctx, c, http.MethodGet, path("handoffs", id), nil, nil)
}

// Accept takes an offer. With automatic confirm the caller owns the task when this returns, and has its content.
func (c *Client) Accept(ctx context.Context, handoff string, in AcceptInput) (Accepted, error) {
	return ask[Accepted](ctx, c, http.MethodPost, path("handoffs", handoff, "accept"), nil, in)
}

// Reject turns an offer down. It goes to the next candidate, or back to its source.
func (c *Client) Reject(ctx context.Context, handoff string, in RejectInput) (Receipt, error) {
	return c.receipt(ctx, in, "handoffs", handoff, "reject")
}

// Confirm lets go of a task that was accepted, as the source of a handoff with explicit confirm.
func (c *Client) Confirm(ctx context.Context, handoff string, in ConfirmInput) (Receipt, error) {
	return c.receipt(ctx, in, "handoffs", handoff, "confirm")
}

// Withdraw takes a handoff under way back.
func (c *Client) Withdraw(ctx context.Context, handoff string, in CancelInput) (Receipt, error) {
	return c.receipt(ctx, in, "handoffs", handoff, "withdraw")
}

// Approve lets a supervised handoff go on, by its id or its ticket's, or gives a task to the agent that asked for it. The id
// says which.
func (c *Client) Approve(ctx context.Context, id string, in ApproveInput) (Receipt, error) {
	return c.receipt(ctx, in, answers(id), id, "approve")
}

// Deny stops a supervised handoff, says no to a ticket, or refuses an ask to take over. The id says which.
func (c *Client) Deny(ctx context.Context, id string, in DenyInput) (Receipt, error) {
	return c.receipt(ctx, in, answers(id), id, "deny")
}

// answers is where an id that can be approved or denied belongs.
func answers(id string) string {
	switch {
	case strings.Contains(id, ".t"):
		return "asks"
	case strings.Contains(id, ".k"):
		return "tickets"
	}
	return "handoffs"
}

// Content gives the envelope of a task, of a handoff or of what was shared; the id says which. The read is on record.
func (c *Client) Content(ctx context.Context, id string, in ContentInput) (Sheet, error) {
	of := "tasks"
	switch {
	case strings.Contains(id, ".h"):
		of = "handoffs"
	case strings.Contains(id, ".s"):
		of = "shares"
	}
	majors := make([]string, len(in.Majors))
	for i, major := range in.Majors {
		majors[i] = strconv.Itoa(major)
	}
	q := wire.Query{}
	q.Flag("render", in.Render)
	q.Flag("source", in.Source)
	q.Text("majors", strings.Join(majors, ","))
	return ask[Sheet](ctx, c, http.MethodGet, path(of, id, "content"), q, nil)
}

// Inbox lists what waits for an agent, and waits for it if asked to. An offer that an agent gets here counts as seen,
// and its acknowledgment clock runs. After an answer's Position only what has come since is listed, offers made again too.
func (c *Client) Inbox(ctx context.Context, o InboxOptions) (in Inbox, err error) {
	q := wire.Query{}
	q.Text("agent", o.Agent)
	q.Position("after", o.After)
	q.Number("limit", o.Limit)
	q.Flag("peek", o.Peek)
	err = c.await(ctx, path("inbox"), q, o.Wait, &in)
	return in, err
}

// WaitInbox waits until something is in the inbox or ctx ends, however long that takes. It rides out servers that are
// away for a while, but gives up on refusals. Wait is how long each of its calls waits; 0 means 30 s.
func (c *Client) WaitInbox(ctx context.Context, o InboxOptions) (items []Item, err error) {
	if o.Wait <= 0 {
		o.Wait = usualWait
	}
	err = c.conn.Insist(ctx, func() (bool, error) {
		in, err := c.Inbox(ctx, o)
		items = in.Items
		return len(items) > 0, err
	})
	return items, err
}
