package client

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/client/wire"
)

// Item is one item of an inbox. It is a preview: the content is fetched by id, or comes with the acceptance.
type Item struct {
	Type     string    `json:"type"` // offer, approval, confirm, takeover, share, question, stranded, returned, resumed, taken, cancelled, parked, completed or failed
	ID       string    `json:"id"`   // of the handoff, ask, share, ticket, notice, child or task
	Task     string    `json:"task"`
	Offer    int       `json:"offer,omitempty"`
	Epoch    uint64    `json:"epoch,omitempty"`
	From     string    `json:"from"`
	Kind     Kind      `json:"kind,omitempty"`
	Claim    bool      `json:"claim,omitempty"`
	Channel  string    `json:"channel,omitempty"` // that it was published to
	Reason   Reason    `json:"reason,omitempty"`
	Detail   string    `json:"detail,omitempty"` // the first 500 characters
	Intent   string    `json:"intent"`           // the first 500 characters
	Priority Priority  `json:"priority"`
	Envelope string    `json:"envelope,omitempty"` // digest
	Seen     bool      `json:"seen"`
	Since    time.Time `json:"since"`
	Ends     time.Time `json:"ends,omitzero"` // when it goes to another receiver, back, or to the dead letters
	Position uint64    `json:"position"`
}

// ItemTypes lists the values of [Item].Type.
func ItemTypes() []string {
	return []string{"offer", "approval", "confirm", "takeover", "share", "question", "stranded", "returned", "resumed", "taken", "cancelled", "parked", "completed", "failed"}
}

// Notice reports whether the item tells of something that the reader did not cause, and needs no answer: its task was taken by
// another agent, cancelled, parked in the dead letters, completed or failed. A notice leaves the inbox once it is seen. If Epoch
// is not 0, the reader owned the task, and stops working on it.
func (i Item) Notice() bool {
	switch i.Type {
	case "taken", "cancelled", "parked", "completed", "failed":
		return true
	}
	return false
}

// Inbox has the items that wait for an agent, highest priority first. Within a priority, senders take turns.
type Inbox struct {
	Items    []Item `json:"items"`
	Cursor   string `json:"cursor"`   // InboxOptions.After of the call that gets what comes next, or was beyond the limit
	Position uint64 `json:"position"` // every item up to it was in an answer
}

// InboxOptions narrow a read of an inbox. The zero value reads the caller's own and does not wait.
type InboxOptions struct {
	Agent string        // another's, for operators and auditors
	After string        // only items after this: an earlier answer's Cursor
	Limit int           // at most 500; 0 means 10
	Wait  time.Duration // how long to wait for the first item, at most 55s
	Peek  bool          // read without consequence: no offer counts as seen
	See   bool          // offers count as seen although the call does not wait: the reader answers them at once
}

// Inbox lists the items that wait for an agent, and can wait for the first. An offer that an agent gets by a call that waits, or
// with See, counts as seen, and its acknowledgment clock runs, for as many as AgentSpec.MaxTasks has room for or, without that, for one after the other; a notice leaves the inbox. After an answer's Cursor only items are listed that no answer had, repeated offers among them.
// An agent that waits, without After, while others do gets its share of the offers that others have, too, and not those that one of them was shown less than a second ago.
func (c *Client) Inbox(ctx context.Context, o InboxOptions) (in Inbox, err error) {
	q := wire.Query{}
	q.Texts("agent", o.Agent, "after", o.After)
	q.Number("limit", o.Limit)
	q.Flag("peek", o.Peek)
	q.Flag("see", o.See)
	err = c.await(ctx, path("inbox"), q, o.Wait, &in)
	return in, err
}

// WaitInbox waits until something is in the inbox or ctx ends, however long that takes. It waits for servers that are
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
