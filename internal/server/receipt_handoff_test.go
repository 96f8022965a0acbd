package server

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// TestTheReceiptOfAHandoffShowsWhoAskedWhoDecidedAndHowItEnded reads receipts as another party does. The operator asks for the tasks of ann.
func TestTheReceiptOfAHandoffShowsWhoAskedWhoDecidedAndHowItEnded(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	c := owner(t, s)
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	agents := map[string]*client.Client{}
	for _, name := range []string{"ann", "bob"} {
		_, err := c.RegisterAgent(t.Context(), name, client.AgentSpec{})
		must(t, err)
		agents[name] = as(t, s, client.RoleAgent, name)
	}
	operator := as(t, s, client.RoleOperator, "olga")
	send := func(t *testing.T, by *client.Client, in client.SendInput) (handoff string) {
		t.Helper()
		r, err := agents["ann"].CreateTask(t.Context(), client.CreateInput{Intent: "pay the invoice", Start: true})
		must(t, err)
		in.To, in.Epoch, in.Content.Notes = []string{"bob"}, r.Epoch, strings.Repeat("line by line; ", 600)
		r, err = by.Send(t.Context(), r.Task, in)
		must(t, err)
		return r.Handoff
	}
	shown := func(t *testing.T, handoff string) (proof.Handoff, []string) {
		t.Helper()
		var b bytes.Buffer
		must(t, admin.New(c).HandoffReceipt(t.Context(), handoff, &b))
		r := proven(t, c, b.String())
		if len(r.Handoffs) != 1 || r.Handoffs[0].ID != handoff {
			t.Fatalf("the receipt of %s shows %+v", handoff, r.Handoffs)
		}
		var events []string
		for _, e := range r.Entries {
			events = append(events, e.Events...)
		}
		return r.Handoffs[0], events
	}

	t.Run("an operator asks", func(t *testing.T) {
		id := send(t, c, client.SendInput{Pack: client.Pack{Tokens: 600}})
		_, err := agents["bob"].Accept(t.Context(), id, client.AcceptInput{})
		must(t, err)
		h, _ := shown(t, id)
		if h.From != "ann" || !strings.HasPrefix(h.AskedBy, "admin/") || h.To != "bob" || h.Owner != "bob" || h.Given == "" || h.Given == h.Envelope || h.Holds == "" {
			t.Errorf("it shows %+v", h)
		}
	})
	t.Run("approved", func(t *testing.T) {
		id := send(t, agents["ann"], client.SendInput{Kind: client.Supervised})
		_, err := operator.Approve(t.Context(), id, client.ApproveInput{})
		must(t, err)
		_, err = agents["bob"].Accept(t.Context(), id, client.AcceptInput{})
		must(t, err)
		h, events := shown(t, id)
		if h.AskedBy != "ann" || h.Approver != "operator/olga" || h.Denied || h.Decided.Before(h.Asked) || h.Accepted.IsZero() || !slices.Contains(events, "handoff-approved") {
			t.Errorf("it shows %+v in %v", h, events)
		}
	})
	t.Run("denied", func(t *testing.T) {
		id := send(t, agents["ann"], client.SendInput{Kind: client.Supervised})
		_, err := operator.Deny(t.Context(), id, client.DenyInput{Detail: "not this one"})
		must(t, err)
		h, events := shown(t, id)
		if h.Approver != "operator/olga" || !h.Denied || h.Ended.IsZero() || h.Outcome == "" || !h.Accepted.IsZero() {
			t.Errorf("it shows %+v in %v", h, events)
		}
	})
	t.Run("rejected", func(t *testing.T) {
		id := send(t, agents["ann"], client.SendInput{})
		_, err := agents["bob"].Reject(t.Context(), id, client.RejectInput{Reason: client.Overloaded})
		must(t, err)
		h, events := shown(t, id)
		if h.Ended.IsZero() || h.Outcome == "" || h.To != "" || !slices.Contains(events, "handoff-rejected") {
			t.Errorf("it shows %+v in %v", h, events)
		}
	})
}
