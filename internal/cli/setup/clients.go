package setup

import (
	"cmp"
	"encoding/json"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/internal/cli/configfile"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// scope tells whether a project or a user is set up.
type scope string

const (
	ofProject scope = "project"
	ofUser    scope = "user"
)

// serverName is the name of the server in clients' files.
const serverName = "trapeze"

// entry is the part of a client's file that starts trapeze.
type entry struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"` // only read
}

// shell is the command line that the entry is, which runs where getenv is the environment, but without variables of trapeze other than those of the entry. It
// reports whether the command is trapeze mcp.
func (e entry) shell(getenv func(string) string) (as *shell.Shell, mcp bool) {
	as = shell.New(shell.Env{Stdout: io.Discard, Stderr: io.Discard, Getenv: func(name string) string {
		if v, set := e.Env[name]; set || strings.HasPrefix(name, ownVariables) {
			return v
		}
		return getenv(name)
	}})
	var root cobra.Command
	as.Bind(&root)
	f := root.PersistentFlags()
	f.ParseErrorsAllowlist.UnknownFlags = true // those of trapeze mcp
	err := f.Parse(e.Args)
	return as, err == nil && f.Arg(0) == "mcp"
}

// filledIn reports whether the client completes arguments or variables of the entry, as in ${NAME} or {env:NAME}.
func (e entry) filledIn() bool {
	open := func(text string) bool { return strings.ContainsAny(text, "${") }
	for name, v := range e.Env {
		if strings.HasPrefix(name, ownVariables) && open(v) {
			return true
		}
	}
	return slices.ContainsFunc(e.Args, open)
}

// ownVariables is how the names of the environment variables of trapeze begin.
const ownVariables = "TRAPEZE_"

// client is a program that agents run in.
type client struct {
	name     string // value of --client, and default name of the agent
	title    string
	programs []string // the client is installed if one of them is in PATH
	dirs     func(p places) []string
	file     func(s scope, p places) string
	toml     bool
	key      string                         // name of the table of servers
	typed    string                         // the "type" that an entry needs; empty if it needs none
	list     bool                           // "command" is a list: the program and its arguments
	further  configfile.Object              // more fields of a new entry
	env      string                         // name of the table of environment variables; empty: env
	prefix   string                         // of the names of tools, for a client that does not name the server before them
	hooks    func(s scope, p places) string // the file of its hooks; nil if it has none that trapeze can use
	then     string                         // what remains to be done by hand
}

// clients are the supported clients, in the order in which they are set up.
//
// Claude Code (code.claude.com/docs/en/mcp): .mcp.json in the project's root, which is shared and must be approved once,
// or ~/.claude.json, whose top-level "mcpServers" apply to every project; {"type": "stdio", "command", "args", "env"}.
//
// Codex (developers.openai.com/codex/mcp and /config-reference): a table [mcp_servers.NAME] with command and args in
// ~/.codex/config.toml ($CODEX_HOME), or in .codex/config.toml of a project, which is read once the project is trusted. A
// server gets few environment variables, so it must not depend on them; the timeout of a call is tool_timeout_sec, 60 by default.
// Hooks are in hooks.json in the same directory, in the format of Claude Code (developers.openai.com/codex/hooks), and must be trusted once.
//
// Cursor (cursor.com/docs/mcp): "mcpServers" in .cursor/mcp.json, of the project or of the home directory. Of tools of the same name it
// calls that of the first server, so ours have a prefix; the other clients name the server before its tools.
//
// VS Code (code.visualstudio.com/docs/copilot/reference/mcp-configuration): "servers", not "mcpServers", in
// .vscode/mcp.json or in the user profile's mcp.json; "type" and "command" are required, and comments are common.
//
// Gemini CLI (geminicli.com/docs/tools/mcp-server): "mcpServers" in .gemini/settings.json, of the project or of the home
// directory; an entry with a command has no type.
//
// opencode (opencode.ai/docs/config and /mcp-servers): "mcp" in opencode.json or opencode.jsonc, of the project or of
// ~/.config/opencode; "command" is a list. A call ends after "timeout" milliseconds, which is less than the inbox waits by default.
//
// Copilot CLI (docs.github.com, "Copilot CLI command reference", MCP server loading priority): "mcpServers" in .github/mcp.json of the project
// or in ~/.copilot/mcp-config.json ($COPILOT_HOME); "tools" are those that it may call. It reads a project's files once it
// trusts the project, and prefers a server of the same name in .mcp.json.
var clients = []client{
	{
		name: "claude", title: "Claude Code", programs: []string{"claude"}, key: "mcpServers", typed: "stdio",
		dirs: func(p places) []string { return []string{p.claude(), filepath.Join(p.root, ".claude")} },
		file: func(s scope, p places) string {
			if s == ofProject {
				return filepath.Join(p.root, ".mcp.json")
			}
			if dir := p.getenv("CLAUDE_CONFIG_DIR"); dir != "" {
				return filepath.Join(dir, ".claude.json")
			}
			return filepath.Join(p.home, ".claude.json")
		},
		hooks: func(s scope, p places) string {
			if s == ofProject {
				return filepath.Join(p.root, ".claude", "settings.json")
			}
			return filepath.Join(p.claude(), "settings.json")
		},
		then: "restart claude, and allow the server trapeze when it asks; /mcp shows it",
	},
	{
		name: "codex", title: "Codex CLI", programs: []string{"codex"}, key: "mcp_servers", toml: true,
		dirs: func(p places) []string { return []string{p.codex(), filepath.Join(p.root, ".codex")} },
		file: func(s scope, p places) string {
			if s == ofProject {
				return filepath.Join(p.root, ".codex", "config.toml")
			}
			return filepath.Join(p.codex(), "config.toml")
		},
		hooks: func(s scope, p places) string {
			if s == ofProject {
				return filepath.Join(p.root, ".codex", "hooks.json")
			}
			return filepath.Join(p.codex(), "hooks.json")
		},
		then: "restart codex; it reads a project's file once it trusts the project",
	},
	{
		name: "cursor", title: "Cursor", programs: []string{"cursor", "cursor-agent"}, key: "mcpServers", typed: "stdio", prefix: "trapeze_",
		dirs: in(".cursor"), file: inside(".cursor", "mcp.json"),
		then: "restart Cursor, and enable the server trapeze in its settings",
	},
	{
		name: "vscode", title: "VS Code", programs: []string{"code", "code-insiders"}, key: "servers", typed: "stdio",
		dirs: func(p places) []string { return []string{p.code(), filepath.Join(p.root, ".vscode")} },
		file: func(s scope, p places) string {
			if s == ofProject {
				return filepath.Join(p.root, ".vscode", "mcp.json")
			}
			return filepath.Join(p.code(), "mcp.json")
		},
		then: "start the server trapeze with MCP: List Servers",
	},
	{
		name: "gemini", title: "Gemini CLI", programs: []string{"gemini"}, key: "mcpServers",
		dirs: in(".gemini"), file: inside(".gemini", "settings.json"),
		then: "restart gemini; /mcp shows it",
	},
	{
		name: "opencode", title: "opencode", programs: []string{"opencode"}, key: "mcp", typed: "local", list: true, env: "environment",
		further: configfile.Object{{Name: "enabled", Value: true}, {Name: "timeout", Value: 60000}},
		dirs:    func(p places) []string { return []string{p.opencode(), filepath.Join(p.root, ".opencode")} },
		file: func(s scope, p places) string {
			dir := p.root
			if s == ofUser {
				dir = p.opencode()
			}
			if comments := filepath.Join(dir, "opencode.jsonc"); exists(comments) {
				return comments
			}
			return filepath.Join(dir, "opencode.json")
		},
		then: "restart opencode; opencode mcp list shows it",
	},
	{
		name: "copilot", title: "Copilot CLI", programs: []string{"copilot"}, key: "mcpServers", typed: "local",
		further: configfile.Object{{Name: "tools", Value: []string{"*"}}},
		dirs:    func(p places) []string { return []string{p.copilot()} },
		file: func(s scope, p places) string {
			if s == ofProject {
				return filepath.Join(p.root, ".github", "mcp.json")
			}
			return filepath.Join(p.copilot(), "mcp-config.json")
		},
		then: "restart copilot, and trust the project; /mcp show lists it. A .mcp.json in the project comes first: where Claude Code has one, set up Claude Code with --scope user instead",
	},
}

// in and inside are for clients whose files are in one directory of the home directory or the project.
func in(dir string) func(places) []string {
	return func(p places) []string { return []string{filepath.Join(p.home, dir), filepath.Join(p.root, dir)} }
}

func inside(dir, name string) func(scope, places) string {
	return func(s scope, p places) string {
		if s == ofProject {
			return filepath.Join(p.root, dir, name)
		}
		return filepath.Join(p.home, dir, name)
	}
}

// found reports whether a client is installed: its program, or one of its directories, exists.
func (c client) found(p places) bool {
	for _, name := range c.programs {
		if _, err := exec.LookPath(name); err == nil {
			return true
		}
	}
	return slices.ContainsFunc(c.dirs(p), exists)
}

// with returns the text of the client's file with the entry. What else an entry of ours needs is written with a new entry only: a user may
// have changed it.
func (c client) with(text string, e entry) (string, error) {
	fields := configfile.Object{{Name: "command", Value: e.Command}, {Name: "args", Value: e.Args}}
	if c.list {
		fields = configfile.Object{{Name: "command", Value: append([]string{e.Command}, e.Args...)}}
	}
	if c.toml {
		return configfile.TOML(text, []string{c.key, serverName}, fields)
	}
	if c.typed != "" {
		fields = append(configfile.Object{{Name: "type", Value: c.typed}}, fields...)
	}
	if _, found := c.entryIn(text); !found {
		fields = append(fields, c.further...)
	}
	return configfile.JSON(text, []string{c.key, serverName}, fields)
}

// entryIn finds the entry in the client's file.
func (c client) entryIn(text string) (e entry, found bool) {
	at := func(name string) (json.RawMessage, bool) {
		if c.toml {
			return configfile.TOMLAt(text, []string{c.key, serverName}, name)
		}
		return configfile.JSONAt(text, c.key, serverName, name)
	}
	if env, some := at(cmp.Or(c.env, "env")); some && json.Unmarshal(env, &e.Env) != nil {
		e.Env = nil // has values that are no texts, which the client refuses or writes as such
	}
	command, found := at("command")
	if c.list {
		var words []string
		if !found || json.Unmarshal(command, &words) != nil || len(words) == 0 {
			return e, false
		}
		e.Command, e.Args = words[0], words[1:]
		return e, true
	}
	if !found || json.Unmarshal(command, &e.Command) != nil {
		return e, false
	}
	if args, some := at("args"); some && json.Unmarshal(args, &e.Args) != nil {
		return e, false
	}
	return e, true
}

// editable returns why the client's file cannot be edited; nil if it can.
func (c client) editable(text string) error {
	_, err := c.with(text, entry{Command: "trapeze", Args: []string{"mcp"}})
	return err
}
