//go:build outside

package outside

import (
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/scenario/program"
)

func TestMain(m *testing.M) { program.Main(m) }

// harness is the program `trapeze serve`, with tokens of agents.
type harness struct {
	url   string // of /mcp
	admin *client.Client
}

func serve(t *testing.T) *harness {
	t.Helper()
	s := program.Start(t, program.Command("serve", "--data-dir", t.TempDir(), "--addr", "127.0.0.1:0", "--json"))
	admin, err := client.New(s.URL, s.Token, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &harness{url: s.URL + "/mcp", admin: admin}
}

// token registers an agent and returns a token for it.
func (h *harness) token(t *testing.T, name string) string {
	t.Helper()
	if _, err := h.admin.RegisterAgent(t.Context(), name, client.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	made, err := h.admin.CreateToken(t.Context(), client.TokenInput{Role: client.RoleAgent, Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return made.Text
}
