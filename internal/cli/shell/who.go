package shell

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/usage"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/help"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// agentMeant reports whether only a caller who is no agent gets a refusal.
func agentMeant(r *refusal.Error) bool {
	return r.Code == refusal.NotOwner || len(r.Helps) == 1 && r.Helps[0].Call == help.ActAs
}

// The most that a hint lists, and, in bytes, repeats.
const mostAgents, mostLine = 8, 400

// Chosen is the agent that the command acts as by its flags and its environment; empty if none was chosen.
func (s *Shell) Chosen() string {
	token, agent := s.Getenv("TRAPEZE_TOKEN"), event.Bare(s.Getenv("TRAPEZE_AGENT"))
	switch {
	case s.Flags.Agent == "" && s.Flags.Token == "" && token == "":
		return agent
	case s.Flags.Agent == agent && s.Flags.Token == "" && token != "":
		return "" // in a program of trapeze work: the token is that agent's
	}
	return s.Flags.Agent
}

// withAgent says in the hint of a refusal which agents may be meant, with the command that acts as one, if the caller is none and chose none.
func (s *Shell) withAgent(ctx context.Context, cmd *cobra.Command, args []string, err error) error {
	r, ok := refused(err)
	if !ok || s.Chosen() != "" || !agentMeant(r) {
		return err
	}
	c, failed := s.Dial(ctx)
	if failed != nil {
		return err
	}
	me, failed := c.Me(ctx)
	if failed != nil || me.Role == client.RoleAgent {
		return err
	}
	agents, known := meant(ctx, c, cmd, args)
	if !known {
		agents = s.agents(ctx, c)
	}
	if hint := s.actAs(agents); hint != "" {
		return Hinted(err, hint)
	}
	return err
}

// meant are the agents that can do what a command does with the handoff or the task of its arguments: the receivers of an offer, the sender of a handoff
// that was accepted, the owner of a task, or else the agent that requested it. If a person requested a task that nobody owns, it is known that there are none.
func meant(ctx context.Context, c *client.Client, cmd *cobra.Command, args []string) (agents []string, known bool) {
	of := usage.Placeholders(cmd)
	for i := range min(len(of), len(args)) {
		switch strings.Trim(of[i], "[]") {
		case "HANDOFF":
			if h, err := c.Handoff(ctx, args[i]); err == nil && len(h.To) > 0 {
				return h.To, true
			} else if err == nil {
				return []string{h.From}, true
			}
		case "TASK":
			if t, err := c.Task(ctx, args[i]); err == nil {
				who := cmp.Or(t.Owner, t.Requester)
				if strings.Contains(who, "/") { // a person, or the administrator
					return nil, true
				}
				return []string{who}, true
			}
		}
	}
	return nil, false
}

// agents are those of the server with a token on this machine; if there are none, all of the server. Without a client: those with a token.
func (s *Shell) agents(ctx context.Context, c *client.Client) []string {
	kept, names, here := s.keptAgents(), []string(nil), []string(nil)
	if c == nil {
		return kept
	}
	list, err := c.Agents(ctx)
	for _, a := range list.Agents {
		names = append(names, a.Name)
		if slices.Contains(kept, a.Name) { // tokens of removed agents are kept, too
			here = append(here, a.Name)
		}
	}
	switch {
	case err != nil:
		return kept
	case len(here) > 0:
		return here
	}
	return names
}

// keptAgents are the agents whose tokens for the server are kept on this machine, by name.
func (s *Shell) keptAgents() (names []string) {
	path, err := s.agentTokenFile("any")
	if err != nil {
		return nil
	}
	files, _ := os.ReadDir(filepath.Dir(path)) // no directory, no tokens
	for _, f := range files {
		if name, is := strings.CutSuffix(f.Name(), ".token"); is {
			names = append(names, name)
		}
	}
	return names
}

// orAgent adds to the refusal that there is no token which agents have one.
func (s *Shell) orAgent(err error) error {
	if r, ok := refused(err); !ok || r.Code != refusal.Unauthenticated || s.Chosen() != "" {
		return err
	}
	if hint := s.actAs(s.keptAgents()); hint != "" {
		return Hinted(err, hint)
	}
	return err
}

// actAs is the hint to repeat the command as one of the agents; empty if there are none.
func (s *Shell) actAs(agents []string) string {
	if len(agents) == 0 {
		return ""
	}
	which := "act as " + OneOf(agents[:min(len(agents), mostAgents)])
	if more := len(agents) - mostAgents; more > 0 {
		which += ", or one of " + Number(more) + " more"
	}
	if len(agents) > 1 {
		which += ", for example"
	}
	return which + ": " + s.again("--agent", agents[0])
}

// again is the command that runs, with a flag added or given another value; without texts that are too long, and without a token.
func (s *Shell) again(flag, value string) string {
	at := slices.Index(s.Args, "--")
	if at < 0 {
		at = len(s.Args)
	}
	before := slices.DeleteFunc(slices.Clone(s.Args[:at]), func(arg string) bool { return strings.HasPrefix(arg, flag+"=") })
	if i := slices.Index(before, flag); i >= 0 && i+1 < len(before) {
		before = slices.Delete(before, i, i+2)
	}
	line := shellword.Quotes(slices.Concat([]string{"trapeze"}, before, []string{flag, value}, s.Args[at:])...)
	if len(line) > mostLine || s.Flags.Token != "" {
		return "the same command with " + shellword.Quotes(flag, value)
	}
	return line
}

// NeedAgent refuses a command that is for one agent, when none was chosen. c may be nil.
func (s *Shell) NeedAgent(ctx context.Context, c *client.Client, message string) error {
	err := Usagef("%s", message)
	if hint := s.actAs(s.agents(ctx, c)); hint != "" {
		return Hinted(err, hint)
	}
	return err
}

// Unnamed is the administrator that a command acts as because no agent was chosen; empty if it acts as anybody else.
func (s *Shell) Unnamed(ctx context.Context, c *client.Client) string {
	if s.Chosen() != "" {
		return ""
	}
	me, err := c.Me(ctx)
	if err != nil || me.Role != client.RoleAdmin {
		return ""
	}
	return Principal(me.Role, me.Name)
}

// RemindAgent says that an agent may have been meant, on standard error.
func (s *Shell) RemindAgent(ctx context.Context, c *client.Client, answered string) {
	if hint := s.actAs(s.agents(ctx, c)); hint != "" {
		s.Notef("%s, since no agent was named; %s", answered, hint)
	}
}
