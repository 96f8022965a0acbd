package server

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
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

func TestReceiptsVerifyBeforeAndAfterARotationOfTheKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	task := paid(t, s)
	before, old := receiptOf(t, owner(t, s), task+".h1")
	r, err := admin.New(owner(t, s)).RotateKey(t.Context(), "yearly")
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(old) != r.Old || r.New == r.Old {
		t.Fatalf("%+v, the key was %s", r, old)
	}
	if !verifies(t, []byte(r.Receipt), r.Old) || verifies(t, []byte(r.Receipt), r.New) {
		t.Error("the old key did not sign the rotation")
	}
	if _, err := owner(t, s).RegisterAgent(t.Context(), "eve", client.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	for restarts := range 2 {
		after, keys := receiptOf(t, owner(t, s), task+".h1")
		if keys != r.Old+"\n"+r.New+"\n" {
			t.Errorf("after %d restarts the keys are %q", restarts, keys)
		}
		if !verifies(t, before, keys) || !verifies(t, before, r.Old) || !verifies(t, after, keys) {
			t.Errorf("after %d restarts a receipt does not verify", restarts)
		}
		stop(t, s)
		if c, err := checkpointIn(t, dir); err != nil || len(verified(t, dir)) > 0 {
			t.Errorf("%v, %v, %v", c, err, verified(t, dir))
		}
		s = open(t, dir)
		if _, err := owner(t, s).RegisterAgent(t.Context(), "eve", client.AgentSpec{Capabilities: []string{"again"}}); err != nil {
			t.Fatal(err)
		}
	}
	stop(t, s)
	note, err := os.ReadFile(filepath.Join(dir, "proof", "checkpoint"))
	if err != nil {
		t.Fatal(err)
	}
	public, err := proof.ParseKeys(r.New)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := proof.OpenCheckpoint(note, public); err != nil {
		t.Errorf("the new key does not sign after a restart: %v", err)
	}
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
