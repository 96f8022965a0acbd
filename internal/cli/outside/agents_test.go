//go:build outside

package outside

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// coder is a coding agent of others.
type coder struct {
	name   string                                   // of its agent, and of the client in `trapeze init`
	model  func(t *testing.T, p *place, url string) // sets its model up, as its users do by hand
	prompt func(text string) []string               // its command line for one prompt
	recipe string                                   // the heading of its recipe in docs/recipes.md
	frame  *regexp.Regexp                           // what it puts around every result of a tool; its group is the result
	ends   string                                   // what it prints after an answer; "" means a line break
}

// result is what a tool answered, without the frame of the program.
func (c coder) result(t *testing.T, text string) string {
	t.Helper()
	match := c.frame.FindStringSubmatch(text)
	if match == nil {
		t.Errorf("the result of a tool is not in the frame of %s: %q", c.name, text)
		return text
	}
	return match[1]
}

// coders are those whose model can be a script.
var coders = []coder{claude, codex, gemini, opencode, copilot}

var claude = coder{
	name: "claude", recipe: "Claude Code", frame: regexp.MustCompile(`(?s)^(.*)$`),
	model: func(_ *testing.T, p *place, url string) {
		p.env = append(p.env, "ANTHROPIC_BASE_URL="+url, "ANTHROPIC_API_KEY=none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "IS_SANDBOX=1")
	},
	prompt: func(text string) []string { return []string{"claude", "--dangerously-skip-permissions", "-p", text} },
}

var codex = coder{
	name: "codex", recipe: "Codex CLI", frame: regexp.MustCompile(`(?s)^Wall time: [0-9.]+ seconds\nOutput:\n(.*)$`),
	model: func(t *testing.T, p *place, url string) {
		t.Helper()
		p.write(t, ".codex/config.toml", fmt.Sprintf(`model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "%s/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"

[analytics]
enabled = false

[projects."%s"]
trust_level = "trusted"
`, url, p.project))
		p.env = append(p.env, "SCRIPTED_KEY=none")
	},
	prompt: func(text string) []string {
		return []string{"codex", "exec", text}
	},
}

var gemini = coder{
	name: "gemini", recipe: "Gemini CLI", frame: regexp.MustCompile(`(?s)^<untrusted_context>\n(.*)\n</untrusted_context>$`),
	model: func(t *testing.T, p *place, url string) {
		t.Helper()
		p.write(t, ".gemini/settings.json", `{
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "model": {"name": "gemini-2.5-pro"},
  "general": {"enableAutoUpdate": false, "disableAutoUpdate": true},
  "privacy": {"usageStatisticsEnabled": false},
  "telemetry": {"enabled": false}
}
`)
		p.env = append(p.env, "GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL="+url, "GEMINI_CLI_TRUST_WORKSPACE=true")
	},
	prompt: func(text string) []string {
		return []string{"gemini", "--approval-mode", "yolo", "-p", text}
	},
}

var opencode = coder{
	name: "opencode", recipe: "opencode", frame: regexp.MustCompile(`(?s)^(.*)$`),
	model: func(t *testing.T, p *place, url string) {
		t.Helper()
		p.write(t, ".config/opencode/opencode.json", fmt.Sprintf(`{
  "model": "scripted/scripted",
  "autoupdate": false,
  "share": "disabled",
  "provider": {
    "scripted": {
      "npm": "@ai-sdk/openai-compatible",
      "options": {"baseURL": "%s/v1", "apiKey": "none"},
      "models": {"scripted": {"limit": {"context": 100000, "output": 10000}}}
    }
  }
}
`, url))
		p.env = append(p.env, "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1")
	},
	prompt: func(text string) []string { return []string{"opencode", "run", text} },
}

var copilot = coder{
	name: "copilot", recipe: "Copilot CLI", frame: regexp.MustCompile(`(?s)^(.*)$`), ends: "\n\n",
	model: func(t *testing.T, p *place, url string) {
		t.Helper()
		p.write(t, ".copilot/config.json", `{"trustedFolders": ["`+p.project+`"]}`)
		p.env = append(p.env, "COPILOT_OFFLINE=true", "COPILOT_PROVIDER_TYPE=openai", "COPILOT_PROVIDER_BASE_URL="+url+"/v1", "COPILOT_PROVIDER_API_KEY=none", "COPILOT_MODEL=scripted")
	},
	prompt: func(text string) []string { return []string{"copilot", "--allow-all-tools", "-p", text} },
}

// setUp makes a place with the agent, as `trapeze init` sets it up.
func (c coder) setUp(t *testing.T, script func(n int, s shown) move) (*place, *model) {
	t.Helper()
	p, m := newPlace(t), newModel(t, script)
	c.model(t, p, m.url)
	p.run(t, "trapeze", "init", "--client", c.name, "--scope", "user", "--yes")
	return p, m
}

// ask gives the agent a prompt, and returns what it printed.
func (c coder) ask(t *testing.T, p *place, prompt string) string {
	t.Helper()
	line := c.prompt(prompt)
	return p.run(t, line[0], line[1:]...)
}

func each(t *testing.T, test func(t *testing.T, c coder)) {
	t.Helper()
	for _, c := range coders {
		t.Run(c.name, func(t *testing.T) { test(t, c) })
	}
}

func contains(s string, parts ...string) bool {
	for _, part := range parts {
		if !strings.Contains(s, part) {
			return false
		}
	}
	return true
}
