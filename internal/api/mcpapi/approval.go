package mcpapi

import (
	"cmp"
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
)

// approveHere asks the user of the client to approve a supervised handoff. The approval is bound to the digest of its envelope.
func (c *call) approveHere(ctx context.Context, r client.Receipt, send client.SendInput) (answer, error) {
	h, err := c.Handoff(ctx, r.Handoff)
	if err != nil {
		return answer{}, err
	}
	t, err := c.Task(ctx, r.Task)
	if err != nil {
		return answer{}, err
	}
	var to []string
	for _, k := range h.Candidates {
		to = append(to, cmp.Or(k.Agent, "human:"+k.Desk))
	}
	text := h.From + " wants to hand \"" + show.Clip(show.OneLine(t.Intent), 300) + "\" to " + strings.Join(to, ", or ") + "."
	for _, line := range []string{send.Content.Ask, h.Detail} {
		if line != "" {
			text += "\n" + show.Clip(line, 1000)
		}
	}
	defer c.alive(ctx, "asking the user of the client")()
	q := approvalOf(r.Handoff, h.Envelope, text+"\nEnvelope "+show.Clip(h.Envelope, 24))
	said, need, err := c.elicit(ctx, q)
	if need != nil {
		return answer{need: need}, nil
	}
	if err != nil {
		return c.sent(r, send), nil
	}
	return c.approved(ctx, ticketState{ID: q.id, Digest: q.digest}, said)
}

// approved applies the verdict of the user of the client on a supervised handoff. Without a verdict the handoff stays open for other
// approvers.
func (c *call) approved(ctx context.Context, about ticketState, said *mcp.ElicitResult) (answer, error) {
	verdict, ok := saidBy(said, "verdict")
	why, _ := saidBy(said, "why")
	var r client.Receipt
	var err error
	did := "The user of your client approved it."
	switch {
	case ok && verdict == "approve":
		r, err = c.Approve(c.asPerson(ctx, about.ID), about.ID, client.ApproveInput{Digest: about.Digest, Detail: why})
	case ok && verdict == "deny":
		r, err = c.Deny(c.asPerson(ctx, about.ID), about.ID, client.DenyInput{Detail: why})
		did = "The user of your client denied it; you own the task again."
	default:
		h, err := c.Handoff(ctx, about.ID)
		if err != nil {
			return answer{}, err
		}
		t, err := c.Task(ctx, h.Task)
		if err != nil {
			return answer{}, err
		}
		now := show.TaskOf(t)
		return answer{text: "The user of your client did not decide; another approver still can.\n" + now.String(), data: receipt{
			Task: t.ID, State: t.State, Owner: t.Owner, Epoch: t.Epoch, Handoff: h.ID, Stage: h.Stage, Next: c.say("{status} with this task and wait shows the verdict"),
		}}, nil
	}
	return changed(r, err, did, "")
}
