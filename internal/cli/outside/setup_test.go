//go:build outside

package outside

import (
	"strings"
	"testing"
)

// The end of a turn is prolonged once, and the model is shown what waits as the hook says it.
func TestTheHookShowsTheInboxAtTheEndOfATurn(t *testing.T) {
	for _, x := range []struct {
		coder
		prompt []string
	}{
		{codex, []string{"codex", "exec", "--dangerously-bypass-hook-trust", "Say hello."}},
		{claude, claude.prompt("Say hello.")},
	} {
		t.Run(x.name, func(t *testing.T) {
			var g given
			p, m := x.setUp(t, func(n int, _ shown) move {
				switch n {
				case 1:
					return move{tool: "accept", args: obj{"handoff": g.Handoff}}
				case 2:
					return move{tool: "complete", args: obj{"task": g.Task, "text": "fixed"}}
				}
				return move{say: "done"}
			})
			p.run(t, "trapeze", "init", "--client", x.name, "--scope", "user", "--hook", "--yes")
			g = give(t, p, x.name)
			p.run(t, x.prompt[0], x.prompt[1:]...)
			all := m.all()
			if len(all) != 4 {
				t.Fatalf("the model was asked %d times", len(all))
			}
			told := all[1].users[len(all[1].users)-1]
			want := "- offer " + g.Handoff + " from lead, priority normal: \"Fix the import of orders\"\n"
			if !contains(told, "the Trapeze inbox of "+x.name+" is not empty", want) || strings.Contains(told, `\n`) {
				t.Errorf("the model was told %q, not %q", told, want)
			}
			wantPrompt(t, p, x.name, g.Handoff, "mcp", x.result(t, all[2].last()))
			g.done(t, p, "fixed")
		})
	}
}

// Clients with a check of their own say whether they can use what `trapeze init` writes.
func TestClientsFindTheirServerHealthy(t *testing.T) {
	for _, c := range []struct {
		client, scope string
		check         []string
		want          string
	}{
		{"claude", "user", []string{"claude", "mcp", "list"}, "trapeze mcp --agent claude"},
		{"opencode", "project", []string{"opencode", "mcp", "list"}, "connected"},
		{"copilot", "user", []string{"copilot", "mcp", "get", "trapeze"}, "Status: Enabled"},
		{"copilot", "project", []string{"copilot", "mcp", "get", "trapeze"}, "Status: Enabled"},
	} {
		t.Run(c.client+" "+c.scope, func(t *testing.T) {
			p := newPlace(t)
			p.write(t, ".copilot/config.json", `{"trustedFolders": ["`+p.project+`"]}`)
			p.run(t, "trapeze", "init", "--client", c.client, "--scope", c.scope, "--yes")
			out := p.run(t, c.check[0], c.check[1:]...)
			if !strings.Contains(out, c.want) || c.client == "claude" && !strings.Contains(out, "Connected") {
				t.Errorf("%s says:\n%s", strings.Join(c.check, " "), out)
			}
			if out = p.run(t, "trapeze", "doctor"); !strings.Contains(out, "is the agent "+c.client) {
				t.Errorf("doctor says:\n%s", out)
			}
		})
	}
}
