package setup

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/cli/configfile"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// wanted is the set-up that a run of init makes.
type wanted struct {
	scope   scope
	clients []client
	agent   string // empty: the client's name
	hook    bool   // for clients with hooks
	noSkill bool
	person  string   // person at the clients; may be empty
	program string   // the command in clients' files
	further []string // arguments for server and data directory, if they are not the defaults
}

func (w wanted) agentOf(c client) string {
	if w.agent != "" {
		return w.agent
	}
	return c.name
}

func (w wanted) has(name string) bool {
	return slices.ContainsFunc(w.clients, func(c client) bool { return c.name == name })
}

// plan returns the changes of all files.
func (w wanted) plan(p places) (list []change, err error) {
	add := func(path, what string, edit func(string) (string, error)) {
		if err != nil {
			return
		}
		var c change
		if c, err = planChange(path, what, edit); err == nil {
			if w.scope == ofProject {
				c.root = p.root
			}
			list = append(list, c)
		}
	}
	for _, c := range w.clients {
		e := entry{Command: w.program, Args: append([]string{"mcp", "--agent", w.agentOf(c)}, w.further...)}
		if c.prefix != "" {
			e.Args = append(e.Args, "--prefix", c.prefix)
		}
		add(c.file(w.scope, p), c.title, func(text string) (string, error) { return c.with(text, e) })
	}
	teach := func(text string) (string, error) { return configfile.Section(text, beginMark, endMark, section) }
	switch {
	case w.noSkill:
	case w.scope == ofProject:
		add(filepath.Join(p.root, "AGENTS.md"), "instructions for agents", teach)
	default:
		for _, c := range w.clients {
			if dir := map[string]string{"codex": p.codex(), "opencode": p.opencode()}[c.name]; dir != "" {
				add(filepath.Join(dir, "AGENTS.md"), "instructions for agents", teach)
			}
		}
		if w.has("copilot") {
			add(filepath.Join(p.copilot(), "copilot-instructions.md"), "instructions for agents", teach)
		}
	}
	if w.has("gemini") && !w.noSkill { // it reads GEMINI.md, and AGENTS.md only if configured to
		add(geminiFile(w.scope, p, "GEMINI.md"), "instructions for agents", teach)
	}
	if w.has("claude") && !w.noSkill {
		own := filepath.Join(p.root, ".claude")
		if w.scope == ofUser {
			own = p.claude()
		}
		add(filepath.Join(own, "skills", "trapeze", "SKILL.md"), "a skill for Claude Code", skillFile)
	}
	for _, c := range w.hooked() {
		if w.hook {
			add(c.hooks(w.scope, p), "a hook of "+c.title, func(text string) (string, error) { return w.withHook(text, w.agentOf(c)) })
		}
	}
	return list, err
}

// hooked returns the clients with hooks.
func (w wanted) hooked() (list []client) {
	for _, c := range w.clients {
		if c.hooks != nil {
			list = append(list, c)
		}
	}
	return list
}

// geminiFile is the file of instructions that Gemini CLI reads.
func geminiFile(s scope, p places, name string) string {
	if s == ofProject {
		return filepath.Join(p.root, name)
	}
	return filepath.Join(p.home, ".gemini", name)
}

// withHook returns the text of a client's hooks with ours (code.claude.com/docs/en/hooks: "hooks" has a list for each event, of groups that
// have a list of commands; a command's timeout is in seconds).
func (w wanted) withHook(text, agent string) (string, error) {
	words := append([]string{w.program, "hook", "--agent", agent}, w.further...)
	command := shellword.Quotes(words...)
	element := configfile.Object{{Name: "hooks", Value: configfile.List{configfile.Object{
		{Name: "type", Value: "command"}, {Name: "command", Value: command}, {Name: "timeout", Value: 15},
	}}}}
	return configfile.JSONHook(text, hookPath, isHook, command, element)
}

var hookPath = []string{"hooks", "Stop"}

// isHook reports whether the command of a hook is ours.
func isHook(command string) bool {
	return strings.Contains(command, "trapeze") && strings.Contains(command, " hook --agent ")
}

// program is the command in clients' files: for a project the name in PATH, which is the same for everybody that shares the project; for
// a user the absolute path, because programs of a desktop have another PATH.
func program(s scope) (name string, note string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", "", err
	}
	inPath, err := exec.LookPath("trapeze")
	if err == nil {
		inPath, err = filepath.Abs(inPath)
	}
	same := err == nil && sameFile(inPath, self)
	switch {
	case same && s == ofProject:
		return "trapeze", "", nil
	case same:
		return inPath, "", nil
	case strings.Contains(self, "go-build"):
		return "", "", shell.Hinted(errors.New("this program was built by go run, and is deleted when it ends"), "install it first: go install ./cmd/trapeze")
	case s == ofProject:
		note = "The files use " + self + ", a path that others who share the project may not have: put trapeze into your PATH, and run this again."
	}
	return self, note, nil
}

func sameFile(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// serverArgs are the arguments that trapeze mcp needs to find the same server and data directory: clients pass on few environment
// variables.
func serverArgs(s *shell.Shell) (args []string, err error) {
	if at := s.URL(); at != cmp.Or(s.UsualURL, shell.DefaultURL) {
		args = append(args, "--url", at)
	}
	dir, err := s.DataDir()
	if err != nil {
		return nil, shell.Usage(err)
	}
	usual, err := shell.DataDir(func(name string) string {
		if name == "HOME" {
			return s.Getenv(name)
		}
		return ""
	})
	if dir, err2 := filepath.Abs(dir); err2 == nil && (err != nil || dir != usual) {
		args = append(args, "--data-dir", dir)
	}
	return append(args, s.TrustArgs()...), nil
}

// choose returns the clients of the names, or the installed ones.
func choose(names []string, p places) (list []client, err error) {
	for _, c := range clients {
		if slices.Contains(names, c.name) || len(names) == 0 && c.found(p) {
			list = append(list, c)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(clients, func(c client) bool { return c.name == name }) {
			return nil, shell.Hinted(shell.Usagef("unknown client %q", name), "use "+shell.OneOf(clientNames()))
		}
	}
	if len(list) == 0 {
		return nil, shell.Hinted(shell.Usagef("no MCP client is installed"), "name the clients that you use with --client: "+shell.OneOf(clientNames()))
	}
	return list, nil
}

func clientNames() []string {
	names := make([]string, len(clients))
	for i, c := range clients {
		names[i] = c.name
	}
	return names
}

func checkAgent(w wanted) error {
	if w.agent == "" {
		return nil
	}
	if len(w.clients) > 1 {
		return shell.Hinted(shell.Usagef("%d clients would be the agent %s", len(w.clients), w.agent),
			"select one with --client: clients that share an agent receive each other's tasks")
	}
	if err := event.CheckName("an agent", w.agent); err != nil {
		return shell.Usage(err)
	}
	return nil
}
