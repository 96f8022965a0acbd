//go:build outside

package outside

import (
	"encoding/json"
	"path/filepath"
	"testing"
)

// The clients are those of both major versions of the Python SDK, the second in both eras of the protocol, and FastMCP's.
func TestThePythonClientsHandATaskOver(t *testing.T) {
	program, err := filepath.Abs(filepath.Join("testdata", "clients.py"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ client, venv string }{{"sdk", "venv"}, {"auto", "venv_mcp2"}, {"legacy", "venv_mcp2"}, {"fastmcp", "venv"}, {"fastmcp", "venv_mcp2"}} {
		t.Run(c.client+" "+c.venv, func(t *testing.T) {
			p := newPlace(t)
			_, coder := p.agent(t, "coder")
			_, reviewer := p.agent(t, "reviewer")
			var got struct {
				Tools                                                    int
				Context, File, Question, Resumed, Refused, State, Result string
			}
			out := p.run(t, interpreter(t, c.venv), program, c.client, "http://"+p.addr+"/mcp", coder, reviewer)
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if got.Tools != 16 || got.State != "completed" || got.Result != `two "bugs"` || got.Refused != "not_owner" {
				t.Errorf("%+v", got)
			}
			if got.Question != "decide: answer" || got.Resumed != "answered: the first" || !contains(got.File, "\n"+file) {
				t.Errorf("%+v", got)
			}
			if !contains(got.Context, "Review the parser\nof \"orders\"\n", "never push to main", "it is recursive") {
				t.Errorf("the context is\n%s", got.Context)
			}
		})
	}
}
