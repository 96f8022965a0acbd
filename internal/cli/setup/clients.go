package setup

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/trapezehq/trapeze/internal/cli/configfile"
)

// scope says whose set-up it is.
type scope string

const (
	ofProject scope = "project"
	ofUser    scope = "user"
)

// serverName is how clients' files name us.
const serverName = "trapeze"

// entry is how a client starts us.
type entry struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// agent is the agent that an entry speaks as; empty for one that is not ours.
func (e entry) agent() string {
	for i, a := range e.Args[:max(0, len(e.Args)-1)] {
		if a == "--agent" && slices.Contains(e.Args, "mcp") {
			return e.Args[i+1]
		}
	}
	return ""
}

// client is a program that agents run in.
type client struct {
	name     string // as --client has it, and the agent is called
	title    string
	programs []string // any of them in PATH shows that it is there
	dirs     func(p places) []string
	file     func(s scope, p places) string
	toml     bool
	key      string                         // of the table of servers
	typed    bool                           // an entry says that it is a program: "type": "stdio"
	hooks    func(s scope, p places) string // the file of its hooks; nil where it has none that we can use
	then     string                         // what is left to do by hand
}

// clients are those that are known, in the order in which they are set up.
//
// Claude Code (code.claude.com/docs/en/mcp): .mcp.json in the project's root, which is shared and must be approved once,
// or ~/.claude.json, whose top-level "mcpServers" count in every project; {"type": "stdio", "command", "args", "env"}.
//
// Codex (developers.openai.com/codex/mcp and /config-reference): a table [mcp_servers.NAME] with command and args in
// ~/.codex/config.toml ($CODEX_HOME), or in .codex/config.toml of a project, which is read once the project is trusted. A
// server gets little of the environment, so nothing may depend on that; a call may take tool_timeout_sec, 60 by default.
// Hooks are in hooks.json beside it, as Claude Code has them (developers.openai.com/codex/hooks), and must be trusted once.
//
// Cursor (cursor.com/docs/mcp): "mcpServers" in .cursor/mcp.json, of the project or of the home directory.
//
// VS Code (code.visualstudio.com/docs/copilot/reference/mcp-configuration): "servers", not "mcpServers", in
// .vscode/mcp.json or in the user profile's mcp.json; "type" and "command" are required, and comments are usual.
//
// Gemini CLI (geminicli.com/docs/tools/mcp-server): "mcpServers" in .gemini/settings.json, of the project or of the home
// directory; an entry with a command has no type.
var clients = []client{
	{
		name: "claude", title: "Claude Code", programs: []string{"claude"}, key: "mcpServers", typed: true,
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
		then: "start claude anew and allow the server trapeze when it asks; /mcp shows it",
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
		then: "start codex anew; a project's own file counts once codex trusts the project",
	},
	{
		name: "cursor", title: "Cursor", programs: []string{"cursor", "cursor-agent"}, key: "mcpServers", typed: true,
		dirs: in(".cursor"), file: inside(".cursor", "mcp.json"),
		then: "start Cursor anew and switch the server trapeze on in its settings",
	},
	{
		name: "vscode", title: "VS Code", programs: []string{"code", "code-insiders"}, key: "servers", typed: true,
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
		then: "start gemini anew; /mcp shows it",
	},
}

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

// places are where clients keep their files.
type places struct {
	root   string // of the project
	home   string
	getenv func(string) string
}

// standing is where the process stands: the project's root is the nearest directory with a .git, or this one.
func standing(getenv func(string) string) (places, error) {
	p := places{getenv: getenv, home: getenv("HOME")}
	var err error
	if p.home == "" {
		if p.home, err = os.UserHomeDir(); err != nil {
			return p, err
		}
	}
	if p.root, err = os.Getwd(); err != nil {
		return p, err
	}
	for dir := p.root; ; dir = filepath.Dir(dir) {
		if exists(filepath.Join(dir, ".git")) {
			p.root = dir
			return p, nil
		}
		if dir == p.home || dir == filepath.Dir(dir) {
			return p, nil
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (p places) claude() string {
	if dir := p.getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(p.home, ".claude")
}

func (p places) codex() string {
	if dir := p.getenv("CODEX_HOME"); dir != "" {
		return dir
	}
	return filepath.Join(p.home, ".codex")
}

// code is VS Code's default user profile.
func (p places) code() string {
	switch config := p.getenv("XDG_CONFIG_HOME"); {
	case runtime.GOOS == "windows":
		return filepath.Join(p.getenv("APPDATA"), "Code", "User")
	case runtime.GOOS == "darwin":
		return filepath.Join(p.home, "Library", "Application Support", "Code", "User")
	case config != "":
		return filepath.Join(config, "Code", "User")
	}
	return filepath.Join(p.home, ".config", "Code", "User")
}

// found reports whether a client is there: its program, or a directory of its own.
func (c client) found(p places) bool {
	for _, name := range c.programs {
		if _, err := exec.LookPath(name); err == nil {
			return true
		}
	}
	return slices.ContainsFunc(c.dirs(p), exists)
}

// with is the client's file with our entry.
func (c client) with(text string, e entry) (string, error) {
	fields := configfile.Object{{Name: "command", Value: e.Command}, {Name: "args", Value: e.Args}}
	if c.toml {
		return configfile.TOML(text, []string{c.key, serverName}, fields)
	}
	if c.typed {
		fields = append(configfile.Object{{Name: "type", Value: "stdio"}}, fields...)
	}
	return configfile.JSON(text, []string{c.key, serverName}, fields)
}

// entryIn is our entry in the client's file.
func (c client) entryIn(text string) (e entry, found bool) {
	at := func(name string) (json.RawMessage, bool) {
		if c.toml {
			return configfile.TOMLAt(text, []string{c.key, serverName}, name)
		}
		return configfile.JSONAt(text, c.key, serverName, name)
	}
	command, found := at("command")
	if !found || json.Unmarshal(command, &e.Command) != nil {
		return e, false
	}
	if args, some := at("args"); some && json.Unmarshal(args, &e.Args) != nil {
		return e, false
	}
	return e, true
}

// readable is why the client's file cannot be changed; nil if it can.
func (c client) readable(text string) error {
	_, err := c.with(text, entry{Command: "trapeze", Args: []string{"mcp"}})
	return err
}
