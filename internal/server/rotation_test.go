package server

import (
	"bytes"
	"errors"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// owner is the client of the administrator of a server.
func owner(t *testing.T, s *Server) *client.Client {
	t.Helper()
	c, err := client.New(s.URL(), token(t, s), client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// receiptOf is the receipt of a handoff, and the public keys that the server lists.
func receiptOf(t *testing.T, c *client.Client, handoff string) (receipt []byte, keys string) {
	t.Helper()
	var text, list bytes.Buffer
	if err := admin.New(c).HandoffReceipt(t.Context(), handoff, &text); err != nil {
		t.Fatal(err)
	}
	if err := admin.New(c).ProofKeys(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	return text.Bytes(), list.String()
}

// verifies reports whether a receipt verifies with public keys alone.
func verifies(t *testing.T, receipt []byte, keys string) bool {
	t.Helper()
	public, err := proof.ParseKeys(keys)
	if err != nil {
		t.Fatal(err)
	}
	_, err = proof.VerifyReceipt(receipt, public)
	return err == nil
}

func TestOnlyAnAdministratorOfTheDefaultWorkspaceRotatesTheKey(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	if _, err := admin.New(owner(t, s)).CreateWorkspace(t.Context(), admin.WorkspaceInput{Name: "other"}); err != nil {
		t.Fatal(err)
	}
	for _, in := range []client.TokenInput{
		{Role: client.RoleOperator, Name: "olga"}, {Role: client.RoleAuditor, Name: "otto"}, {Role: client.RoleAdmin, Name: "alma", Workspace: "other"},
	} {
		made, err := owner(t, s).CreateToken(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		c, err := client.New(s.URL(), made.Text, client.Options{Retries: -1})
		if err != nil {
			t.Fatal(err)
		}
		if r, err := admin.New(c).RotateKey(t.Context(), ""); !errors.Is(err, client.NotPermitted) {
			t.Errorf("%s: %+v, %v", in.Name, r, err)
		}
		c.Close()
	}
}
