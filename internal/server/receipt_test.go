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

// proven opens a receipt with the public keys of a server.
func proven(t *testing.T, c *client.Client, receipt string) proof.Receipt {
	t.Helper()
	var list bytes.Buffer
	if err := admin.New(c).ProofKeys(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	keys, err := proof.ParseKeys(list.String())
	if err != nil {
		t.Fatal(err)
	}
	r, err := proof.VerifyReceipt([]byte(receipt), keys)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTheAnswerToAChangeHasItsReceiptIfAskedFor(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	c := owner(t, s)
	agents := map[string]*client.Client{}
	for _, name := range []string{"ann", "bob"} {
		var r admin.Receipt
		if _, err := c.RegisterAgent(admin.WithReceipt(t.Context(), &r), name, client.AgentSpec{}); err != nil {
			t.Fatal(err)
		}
		if got := proven(t, c, r.Text); len(got.Entries) != 1 || !strings.HasSuffix(string(got.Entries[0].Stream), "/agent/"+name) {
			t.Errorf("the receipt of the registration of %s shows %+v", name, got.Entries)
		}
		agents[name] = as(t, s, client.RoleAgent, name)
	}
	var asked, accepted, done, again admin.Receipt
	ctx := client.WithKey(t.Context(), client.NewKey())
	in := client.CreateInput{Intent: "pay the invoice", Start: true, Send: &client.SendInput{To: []string{"bob"}}}
	r, err := agents["ann"].CreateTask(admin.WithReceipt(ctx, &asked), in)
	if err != nil {
		t.Fatal(err)
	}
	got, err := agents["bob"].Accept(admin.WithReceipt(t.Context(), &accepted), r.Handoff, client.AcceptInput{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := agents["bob"].Complete(admin.WithReceipt(t.Context(), &done), r.Task, client.CompleteInput{Epoch: got.Epoch, Result: client.Result{Text: "paid 900"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := agents["ann"].CreateTask(admin.WithReceipt(ctx, &again), in); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{asked.Text: "handoff-request", accepted.Text: "handoff-acknowledgment", done.Text: "task-completed", again.Text: "handoff-request"} {
		shown := proven(t, c, text)
		if !slices.ContainsFunc(shown.Entries, func(e proof.Proven) bool { return slices.Contains(e.Events, want) }) {
			t.Errorf("no entry of %+v has %s", shown.Entries, want)
		}
	}
	if a, b := proven(t, c, asked.Text), proven(t, c, again.Text); a.Entries[0].Position != b.Entries[0].Position {
		t.Errorf("the call was repeated, and its receipt is of %d and then of %d", a.Entries[0].Position, b.Entries[0].Position)
	}
}

// as makes a token, and returns its client.
func as(t *testing.T, s *Server, role client.Role, name string) *client.Client {
	t.Helper()
	made, err := owner(t, s).CreateToken(t.Context(), client.TokenInput{Role: role, Name: name})
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(s.URL(), made.Text, client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
