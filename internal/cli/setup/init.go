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
)

// outcome is what init says.
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

const initLong = `Set up the MCP clients on this machine, so that the agents in them can hand work on: Claude Code, Codex CLI, Cursor, VS Code
and Gemini CLI; those that are found, or those that --client names. Each is given "trapeze mcp --agent NAME" as a server, in
its own file: what else is in there stays as it is. You see what would change, and nothing is written without a yes.

--scope project writes into the files of the project that you are in, which others may share; --scope user into your own, for
all projects. A section in AGENTS.md and a skill for Claude Code tell agents when and how to hand on; --no-skill leaves them
out. --person names who sits at the clients: what agents ask people is put to them there as well, and what they answer and
approve is on record as theirs. --hook lets Claude Code and Codex CLI look into the agent's inbox whenever it would end its turn, since nothing that
arrives wakes them.

Where a server runs, each agent is registered and its token kept, for its owner alone, in the data directory; no client's file
has a token. A second run changes nothing.

    trapeze init --client claude --agent coder
    trapeze init --print                            only show`

// Init is the command trapeze init.
func Init(s *shell.Shell) *cobra.Command {
	var w wanted
	var names []string
	var where string
	var yes, only bool
	var cmd *cobra.Command
	cmd = s.Command("init", "Set up MCP clients: Claude Code, Codex CLI, Cursor, VS Code, Gemini CLI", shell.NoArgs, func(ctx context.Context, _ []string) error {
		if w.scope = scope(where); w.scope != ofProject && w.scope != ofUser {
			return shell.Usagef("--scope is project or user, not %q", where)
		}
		p, err := standing(s.Getenv)
		if err != nil {
			return err
		}
		w.agent, s.Flags.Agent = s.Flags.Agent, ""
		if w.clients, err = choose(names, p); err != nil {
			return err
		}
		if err := checkAgent(w); err != nil {
			return err
		}
		var note string
		if w.program, note, err = program(w.scope); err != nil {
			return err
		}
		if w.further, err = furtherOf(s); err != nil {
			return err
		}
		in := bufio.NewReader(s.Stdin)
		talk := !yes && !only && !s.Flags.JSON
		if list := w.hooked(); talk && len(list) > 0 && !cmd.Flags().Changed("hook") {
			names := []string{list[0].title}
			for _, c := range list[1:] {
				names = append(names, c.title)
			}
			s.Show(func(p *shell.Page) {
				p.Line("Nothing that arrives wakes %s. A hook can show the agent its inbox whenever it would end its turn.", strings.Join(names, " or "))
			})
			if w.hook, err = agreed(s, in, "Add that hook?"); err != nil {
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
				return false, refusal.New(refusal.Conflict, "say --yes to have it written, or --print to see it", "nothing is written yet")
			}
			return agreed(s, in, "Write that?")
		})
	})
	cmd.Long = initLong
	f := cmd.Flags()
	f.StringVar(&where, "scope", string(ofProject), "project or user")
	f.StringSliceVar(&names, "client", nil, known()+" (repeatable; default: those that are found)")
	f.BoolVar(&w.hook, "hook", false, "let Claude Code and Codex CLI look into the inbox at the end of a turn")
	f.StringVar(&w.person, "person", "", "who sits at the clients, and answers there what agents ask people")
	f.BoolVar(&w.noSkill, "no-skill", false, "write nothing that teaches agents")
	f.BoolVar(&yes, "yes", false, "write without asking")
	f.BoolVar(&only, "print", false, "only show what would be written")
	cmd.MarkFlagsMutuallyExclusive("yes", "print")
	return cmd
}

// run plans, shows, asks, writes and registers.
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
		case c.stays():
			said.Change = "none"
		}
		if !c.stays() {
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
	w.enrolAll(ctx, s, p, &out, out.Written || open == 0)
	return s.Emit(out, func(page *shell.Page) { showOutcome(page, out, open) })
}

// writeAll writes what changes, and says where that is kept which was there before.
func writeAll(s *shell.Shell, list []change) (backups string, err error) {
	dir, err := s.DataDir()
	if err != nil {
		return "", shell.Usage(err)
	}
	kept := filepath.Join(dir, "backups")
	for _, c := range list {
		if c.stays() {
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

// enrolAll registers the agents, if a server runs.
func (w wanted) enrolAll(ctx context.Context, s *shell.Shell, p places, out *outcome, may bool) {
	var away error
	if may {
		away = answers(ctx, s)
	}
	for _, c := range w.clients {
		a := agentSaid{Client: c.name, Agent: w.agentOf(c), Then: c.then}
		if may && away == nil {
			spec := trapeze.AgentSpec{Description: c.title + " in " + filepath.Base(p.root)}
			if w.scope == ofUser {
				spec.Description = c.title
			}
			_, err := s.Register(ctx, a.Agent, spec, false)
			s.Flags.Agent = ""
			if err == nil && w.person != "" {
				err = s.SetPerson(ctx, a.Agent, w.person)
			}
			if a.Registered = err == nil; err != nil {
				out.Notes = append(out.Notes, "The agent "+a.Agent+" is not registered: "+err.Error())
			}
		}
		out.Agents = append(out.Agents, a)
	}
	if away != nil {
		if w.person != "" {
			out.Notes = append(out.Notes, "Run trapeze init again while a server runs, so that "+w.person+" is named as the person at the clients.")
		}
		out.Notes = append(out.Notes, "No server answers at "+s.URL()+" yet: trapeze mcp starts one, and the agents are registered then. Or start it yourself: trapeze serve --background")
	}
}

// answers is why no server can be asked; nil if one can.
func answers(ctx context.Context, s *shell.Shell) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	c, err := s.DialAsCaller(ctx)
	if err == nil {
		err = c.Ready(ctx)
	}
	return err
}

// agreed asks. Nobody to answer is no yes.
func agreed(s *shell.Shell, in *bufio.Reader, question string) (bool, error) {
	fmt.Fprint(s.Stdout, question+" [y/N] ")
	line, err := in.ReadString('\n')
	switch {
	case errors.Is(err, io.EOF) && strings.TrimSpace(line) == "":
		fmt.Fprintln(s.Stdout)
		return false, refusal.New(refusal.Conflict, "say --yes to have it written, or --print to see it", "nothing is written yet, and there is nobody to ask")
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
				p.Line("%s: nothing to do (%s)", shell.OneLine(f.Path), f.What)
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
			p.Line("What was there before is kept in %s.", shell.OneLine(out.Backups))
		}
	case open > 0:
		p.Line("Nothing is written.")
	default:
		p.Line("All of it is there already.")
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
			state = ", which is registered"
		}
		p.Line("%s is the agent %s%s: %s.", titleOf(a.Client), a.Agent, state, a.Then)
	}
	p.Line("trapeze doctor checks the set-up.")
}

func titleOf(name string) string {
	for _, c := range clients {
		if c.name == name {
			return c.title
		}
	}
	return name
}
