//go:build outside

package outside

import (
	"testing"

	"github.com/trapezehq/trapeze/client"
)

// TestEveryAnswerIsAsDescribed makes calls from the description, well-formed and not, as an administrator and as an agent: no answer is a failure of
// the server, each is one that is described, no malformed call is accepted, and none without a token.
func TestEveryAnswerIsAsDescribed(t *testing.T) {
	for name, token := range map[string]func(t *testing.T, url, owner string) string{
		"administrator": func(t *testing.T, url, owner string) string {
			return made(t, url, owner, client.TokenInput{Role: client.RoleAdmin, Name: "ada"})
		},
		"agent": func(t *testing.T, url, owner string) string {
			return made(t, url, owner, client.TokenInput{Role: client.RoleAgent, Name: "coder"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			url, owner := serve(t)
			run(t, installed(t, "venv/bin/schemathesis"), "--config-file", data(t, "schemathesis.toml"), "run", url+"/openapi.json",
				"--header", "Authorization: Bearer "+token(t, url, owner), "--phases", "coverage,fuzzing", "--max-examples", "10", "--generation-deterministic",
				"--request-timeout", "70", "--no-color",
				"--exclude-path", "/v1/events", // it does not end
				"--exclude-path", "/v1/tokens/{id}", // the call would revoke its own token
			)
		})
	}
}

// made returns a new token, of a registered agent if it is one of an agent.
func made(t *testing.T, url, owner string, in client.TokenInput) string {
	t.Helper()
	c, err := client.New(url, owner, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if in.Role == client.RoleAgent {
		if _, err := c.RegisterAgent(t.Context(), in.Name, client.AgentSpec{}); err != nil {
			t.Fatal(err)
		}
	}
	k, err := c.CreateToken(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return k.Text
}
