package server

import (
	"bytes"
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
