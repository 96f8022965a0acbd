package setup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	trapeze "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// outcome is the answer of init.
type outcome struct {
	Scope   scope       `json:"scope"`
	Root    string      `json:"root"`
	Files   []fileSaid  `json:"files"`
	Agents  []agentSaid `json:"agents"`
	Written bool        `json:"written"` // false: only shown
	Backups string      `json:"backups,omitempty"`
	Notes   []string    `json:"notes,omitempty"`
}

type fileSaid struct {
	Path   string `json:"path"`
	What   string `json:"what"`
	Change string `json:"change"` // new, changed or none
	Diff   string `json:"diff,omitempty"`
}

type agentSaid struct {
	Client     string `json:"client"`
	Agent      string `json:"agent"`
	Registered bool   `json:"registered"`
	Then       string `json:"then"`
}

const initLong = `Set up the MCP clients on this machine, so that their agents can hand off tasks: Claude Code, Codex CLI, Cursor, VS Code, Gemini
CLI, opencode and Copilot CLI. By default all installed clients are set up; --client selects some. Each client gets the MCP server
"trapeze mcp --agent NAME" in its own configuration file; the rest of the file stays as it is. The command shows the changes, and asks before it writes them.

--scope project    change the files of the current project, which others may share
--scope user       change your own files, for all projects
--no-skill         do not write the section in AGENTS.md and the skill for Claude Code, which teach agents when and how to hand off
--person NAME      name the person at the clients, such as yourself; she need not be registered. The agents' questions to people are also
                   asked there, and the answers are recorded under that name. Otherwise they wait as tickets: see trapeze ticket list
--hook             let Claude Code and Codex CLI check the agent's inbox at the end of a turn, since new items do not wake them

If a server is running, each agent is registered, and its token is kept in the data directory, readable by its owner alone. No client's
file contains a token. A second run changes nothing.

    trapeze init --client claude --agent coder
    trapeze init --print                            only show the changes`

// Init is the command trapeze init.
func Init(s *shell.Shell) *cobra.Command {
	var w wanted
	var names []string
	var where string
	var yes, only bool
	var cmd *cobra.Command
	cmd = s.Command("init", "Set up MCP clients: Claude Code, Codex CLI, Cursor, VS Code, Gemini CLI, opencode, Copilot CLI", shell.NoArgs, func(ctx context.Context, _ []string) error {
		if w.scope = scope(where); w.scope != ofProject && w.scope != ofUser {
			return shell.Usagef("--scope must be project or user, not %q", where)
		}
		p, err := currentPlaces(s.Getenv)
		if err != nil {
			return err
		}
		w.agent, s.Flags.Agent = s.Flags.Agent, ""
		if w.clients, err = choose(names, p); err != nil {
			return err
		}
		if w.hook && len(w.hooked()) == 0 {
			return shell.Usagef("--hook is for Claude Code and Codex CLI: no other client has a hook")
		}
		if err := checkAgent(w); err != nil {
			return err
		}
		var note string
		if w.program, note, err = program(w.scope); err != nil {
			return err
		}
		if w.further, err = serverArgs(s); err != nil {
			return err
		}
		in := bufio.NewReader(s.Stdin)
		interactive := !yes && !only && !s.Flags.JSON
		if list := w.hooked(); interactive && len(list) > 0 && !cmd.Flags().Changed("hook") {
			names := []string{list[0].title}
			for _, c := range list[1:] {
				names = append(names, c.title)
			}
			s.Show(func(p *shell.Page) {
				p.Line("New inbox items do not wake %s. A hook can show the inbox to the agent at the end of every turn.", strings.Join(names, " or "))
			})
			if w.hook, err = confirm(s, in, "Add the hook?"); err != nil {
				return err
			}
		}
		return w.run(ctx, s, p, note, func() (bool, error) {
			switch {
			case only:
				return false, nil
			case yes:
				return true, nil
			case s.Flags.JSON:
				return false, refusal.New(refusal.Conflict, "use --yes to write the changes, or --print to show them", "nothing was written: --json needs --yes or --print")
			}
			return confirm(s, in, "Write these changes?")
		})
	})
	cmd.Long = initLong
	f := cmd.Flags()
	shell.Choice(f, &where, "scope", string(ofProject), "%s", []scope{ofProject, ofUser})
	shell.Choices(f, &names, "client", "%s (repeatable; default: all installed clients)", clientNames())
	f.BoolVar(&w.hook, "hook", false, "let Claude Code and Codex CLI check the inbox at the end of a turn")
	f.StringVar(&w.person, "person", "", "person at the clients, who answers questions of agents there")
	f.BoolVar(&w.noSkill, "no-skill", false, "do not write instructions for agents")
	f.BoolVar(&yes, "yes", false, "write without asking")
	f.BoolVar(&only, "print", false, "only show the changes")
	cmd.MarkFlagsMutuallyExclusive("yes", "print")
	return cmd
}

// run shows the changes, asks with may, writes them and registers the agents.
func (w wanted) run(ctx context.Context, s *shell.Shell, p places, note string, may func() (bool, error)) error {
	list, err := w.plan(p)
	if err != nil {
		return err
	}
	out := outcome{Scope: w.scope, Root: p.root, Files: []fileSaid{}, Agents: []agentSaid{}}
	if note != "" {
		out.Notes = append(out.Notes, note)
	}
	open := 0
	for _, c := range list {
		said := fileSaid{Path: c.path, What: c.what, Change: "changed", Diff: c.diff()}
		switch {
		case c.isNew:
			said.Change = "new"
		case c.none():
			said.Change = "none"
		}
		if !c.none() {
			open++
		}
		out.Files = append(out.Files, said)
	}
	if !s.Flags.JSON {
		showPlan(s, out)
	}
	if open > 0 {
		if out.Written, err = may(); err != nil {
			return err
		}
	}
	if out.Written {
		if out.Backups, err = writeAll(s, list); err != nil {
			return err
		}
	}
	w.registerAll(ctx, s, p, &out, out.Written || open == 0)
	return s.Emit(out, func(page *shell.Page) { showOutcome(page, out, open) })
}

// writeAll writes the changes, and returns the directory of the backups.
func writeAll(s *shell.Shell, list []change) (backups string, err error) {
	dir, err := s.DataDir()
	if err != nil {
		return "", shell.Usage(err)
	}
	kept := filepath.Join(dir, "backups")
	for _, c := range list {
		if c.none() {
			continue
		}
		backup, err := c.write(kept, time.Now())
		if err != nil {
			return "", err
		}
		if backup != "" {
			backups = kept
		}
	}
	return backups, nil
}

// registerAll registers the agents, if a server is running.
func (w wanted) registerAll(ctx context.Context, s *shell.Shell, p places, out *outcome, may bool) {
	var away error
	if may {
		away = serverError(ctx, s)
	}
	for _, c := range w.clients {
		a := agentSaid{Client: c.name, Agent: w.agentOf(c), Then: c.then}
		if may && away == nil {
			spec := trapeze.AgentSpec{Description: c.title + " in " + filepath.Base(p.root)}
			if w.scope == ofUser {
				spec.Description = c.title
			}
			err := w.register(ctx, s, a.Agent, spec, out)
			if a.Registered = err == nil; err != nil {
				out.Notes = append(out.Notes, "The agent "+a.Agent+" is not registered: "+err.Error())
			}
		}
		out.Agents = append(out.Agents, a)
	}
	if away != nil {
		if w.person != "" {
			out.Notes = append(out.Notes, "Run trapeze init again when a server is running, to set "+w.person+" as the person at the clients.")
		}
		out.Notes = append(out.Notes, "No server answers at "+s.URL()+" yet. trapeze mcp starts one, and the agents are registered then. To start one now: trapeze serve --background")
	}
}

// register registers an agent that is not there yet, and notes which programs do not know the person at the client yet.
func (w wanted) register(ctx context.Context, s *shell.Shell, name string, spec trapeze.AgentSpec, out *outcome) error {
	c, isNew, err := s.Register(ctx, name, spec, false)
	s.Flags.Agent = ""
	if isNew && err == nil {
		if similar := shell.SimilarAgents(ctx, c, "trapeze init", name); similar != "" {
			out.Notes = append(out.Notes, "The agent "+name+" is new. "+similar)
		}
	}
	if err != nil || w.person == "" {
		return err
	}
	replaced, err := s.SetPerson(ctx, name, w.person)
	if replaced != "" && err == nil {
		out.Notes = append(out.Notes, fmt.Sprintf("The agent %s has a new token, which names %s. Programs that run as %[1]s use the old one until they are restarted, and do not ask %[2]s. Then revoke it: %[3]s",
			name, w.person, shellword.Command("trapeze token revoke", replaced)))
	}
	return err
}

// serverError returns why no server can be reached; nil if one is ready.
func serverError(ctx context.Context, s *shell.Shell) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	c, err := s.DialAsCaller(ctx)
	if err == nil {
		err = c.Ready(ctx)
	}
	return err
}

// confirm asks a question. It is an error if standard input ends before an answer.
func confirm(s *shell.Shell, in *bufio.Reader, question string) (bool, error) {
	fmt.Fprint(s.Stdout, question+" [y/N] ")
	line, err := in.ReadString('\n')
	switch {
	case errors.Is(err, io.EOF) && strings.TrimSpace(line) == "":
		fmt.Fprintln(s.Stdout)
		return false, refusal.New(refusal.Conflict, "use --yes to write the changes, or --print to show them", "nothing was written: standard input has no answer")
	case err != nil && !errors.Is(err, io.EOF):
		return false, err
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true, nil
	}
	return false, nil
}

func showPlan(s *shell.Shell, out outcome) {
	s.Show(func(p *shell.Page) {
		for _, f := range out.Files {
			if f.Change == "none" {
				p.Line("%s: no changes (%s)", shell.OneLine(f.Path), f.What)
				continue
			}
			p.Line("%s", p.Dim(f.What+":"))
			p.Block(f.Diff)
			p.Line("")
		}
	})
}

func showOutcome(p *shell.Page, out outcome, open int) {
	switch {
	case out.Written:
		p.Line("Written.")
		if out.Backups != "" {
			p.Line("The previous files are kept in %s.", shell.OneLine(out.Backups))
		}
	case open > 0:
		p.Line("Nothing was written.")
	default:
		p.Line("Everything is set up already.")
	}
	for _, note := range out.Notes {
		p.Line("%s", shell.OneLine(note))
	}
	if open > 0 && !out.Written {
		return
	}
	for _, a := range out.Agents {
		state := ""
		if a.Registered {
			state = " (registered)"
		}
		p.Line("%s is the agent %s%s: %s.", titleOf(a.Client), a.Agent, state, a.Then)
	}
	p.Line("To check the set-up: trapeze doctor")
}

func titleOf(name string) string {
	for _, c := range clients {
		if c.name == name {
			return c.title
		}
	}
	return name
}
