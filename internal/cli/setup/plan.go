package setup

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/cli/configfile"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// wanted is what a run of init is asked for.
type wanted struct {
	scope   scope
	clients []client
	agent   string // empty: each client's own
	hook    bool   // where a client has hooks
	noSkill bool
	person  string   // who sits at the clients; empty: nobody is named
	program string   // as the files name us
	further []string // arguments that say which server and data directory, where they are not the usual ones
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

// plan is what becomes of which files.
func (w wanted) plan(p places) (list []change, err error) {
	add := func(path, what string, edit func(string) (string, error)) {
		if err != nil {
			return
		}
		var c change
		if c, err = changing(path, what, edit); err == nil {
			if w.scope == ofProject {
				c.root = p.root
			}
			list = append(list, c)
		}
	}
	for _, c := range w.clients {
		e := entry{Command: w.program, Args: append([]string{"mcp", "--agent", w.agentOf(c)}, w.further...)}
		add(c.file(w.scope, p), c.title, func(text string) (string, error) { return c.with(text, e) })
	}
	teach := func(text string) (string, error) { return configfile.Section(text, beginMark, endMark, section) }
	switch {
	case w.noSkill:
	case w.scope == ofProject:
		add(filepath.Join(p.root, "AGENTS.md"), "when and how to hand on", teach)
	case w.has("codex"):
		add(filepath.Join(p.codex(), "AGENTS.md"), "when and how to hand on", teach)
	}
	if w.has("gemini") && !w.noSkill { // it reads GEMINI.md, and AGENTS.md only when told to
		add(teachFile(w.scope, p, "GEMINI.md"), "when and how to hand on", teach)
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

// hooked are the clients that a hook can show their inbox.
func (w wanted) hooked() (list []client) {
	for _, c := range w.clients {
		if c.hooks != nil {
			list = append(list, c)
		}
	}
	return list
}

// teachFile is where Gemini CLI looks for what agents are to know.
func teachFile(s scope, p places, name string) string {
	if s == ofProject {
		return filepath.Join(p.root, name)
	}
	return filepath.Join(p.home, ".gemini", name)
}

// withHook is a client's hooks with ours (code.claude.com/docs/en/hooks: "hooks" has a list for each event, of groups that
// have a list of commands; a command's timeout is in seconds).
func (w wanted) withHook(text, agent string) (string, error) {
	words := append([]string{w.program, "hook", "--agent", agent}, w.further...)
	for i, word := range words {
		words[i] = quoted(word)
	}
	command := strings.Join(words, " ")
	element := configfile.Object{{Name: "hooks", Value: configfile.List{configfile.Object{
		{Name: "type", Value: "command"}, {Name: "command", Value: command}, {Name: "timeout", Value: 15},
	}}}}
	return configfile.JSONHook(text, hookPath, isHook, command, element)
}

var hookPath = []string{"hooks", "Stop"}

// isHook reports whether a command of a client's hook is ours.
func isHook(command string) bool {
	return strings.Contains(command, "trapeze") && strings.Contains(command, " hook --agent ")
}

// quoted is a word as a shell takes it.
func quoted(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=:,./@%+", r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// program is how files name us: for a project by the name in PATH, which is the same for everybody who shares it; for a
// user by the whole path, because a desktop's programs have another PATH.
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
		return "", "", shell.Hinted(errors.New("this program was built by go run and is gone when it ends"), "install it first: go install ./cmd/trapeze")
	case s == ofProject:
		note = "The files name " + self + ", which others who share the project may not have: put trapeze into your PATH and run this again."
	}
	return self, note, nil
}

func sameFile(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// furtherOf are the arguments without which a client's program would not find the same server and data directory:
// clients pass on little of the environment.
func furtherOf(s *shell.Shell) (args []string, err error) {
	if at := s.URL(); at != shell.DefaultURL {
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
	return args, nil
}

// choose picks clients by name, or those that are found.
func choose(names []string, p places) (list []client, err error) {
	for _, c := range clients {
		if slices.Contains(names, c.name) || len(names) == 0 && c.found(p) {
			list = append(list, c)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(clients, func(c client) bool { return c.name == name }) {
			return nil, shell.Hinted(shell.Usagef("there is no client %q", name), "use "+known())
		}
	}
	if len(list) == 0 {
		return nil, shell.Hinted(shell.Usagef("no MCP client was found here"), "name those that you use with --client: "+known())
	}
	return list, nil
}

func known() string {
	names := make([]string, len(clients))
	for i, c := range clients {
		names[i] = c.name
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

func checkAgent(w wanted) error {
	if w.agent == "" {
		return nil
	}
	if len(w.clients) > 1 {
		return shell.Hinted(shell.Usagef("%d clients would be the agent %s", len(w.clients), w.agent),
			"name one with --client: two that share an inbox take each other's work")
	}
	if err := event.CheckName("an agent", w.agent); err != nil {
		return shell.Usage(err)
	}
	return nil
}
