package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/internal/cli/agent"
	"github.com/trapezehq/trapeze/internal/cli/alert"
	"github.com/trapezehq/trapeze/internal/cli/audit"
	"github.com/trapezehq/trapeze/internal/cli/backup"
	"github.com/trapezehq/trapeze/internal/cli/bench"
	"github.com/trapezehq/trapeze/internal/cli/cluster"
	"github.com/trapezehq/trapeze/internal/cli/completion"
	"github.com/trapezehq/trapeze/internal/cli/envelope"
	"github.com/trapezehq/trapeze/internal/cli/erasure"
	"github.com/trapezehq/trapeze/internal/cli/handoff"
	"github.com/trapezehq/trapeze/internal/cli/login"
	"github.com/trapezehq/trapeze/internal/cli/memory"
	"github.com/trapezehq/trapeze/internal/cli/policy"
	"github.com/trapezehq/trapeze/internal/cli/setup"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/cli/task"
	"github.com/trapezehq/trapeze/internal/cli/ticket"
	"github.com/trapezehq/trapeze/internal/cli/usage"
	"github.com/trapezehq/trapeze/internal/cli/verify"
	"github.com/trapezehq/trapeze/internal/cli/web"
	"github.com/trapezehq/trapeze/internal/cli/witness"
	"github.com/trapezehq/trapeze/internal/cli/workspace"
)

const rootLong = `Trapeze hands tasks from one AI agent to the next. The sender owns a task until the receiver has accepted it, and every
step is recorded.

    trapeze demo                          watch a task pass through four agents, with four failures on the way
    trapeze serve                         run a server on this machine
    trapeze work --agent coder -- CMD     run CMD on every task that is handed to the agent coder
    trapeze task create "…" --to coder    create a task, and hand it to coder

The server is at --url or TRAPEZE_URL; of several addresses, with commas between, one that answers. On the machine that runs it no settings are
needed: the owner's token is read from the data directory. With --agent NAME a command acts as that agent.`

func init() {
	cobra.EnableCommandSorting = false // commands are listed in the order of use
}

// group is a section of the root's help.
type group struct {
	id, title string
	commands  []*cobra.Command
}

// groups returns the commands of the root, in the order of its help.
func (s *commands) groups() []group {
	return []group{
		{"start", "Start here:", []*cobra.Command{
			s.demoCommand(), s.serveCommand(), setup.Init(s.Shell), s.workCommand(), setup.Doctor(s.Shell),
		}},
		{"handoff", "Hand off and receive:", []*cobra.Command{
			handoff.Send(s.Shell, task.WaitForEnd), handoff.Inbox(s.Shell), handoff.Accept(s.Shell), handoff.Reject(s.Shell), handoff.Confirm(s.Shell),
			handoff.Escalate(s.Shell), handoff.Takeover(s.Shell), handoff.Share(s.Shell), handoff.Command(s.Shell), policy.Do(s.Shell),
		}},
		{"task", "Tasks:", []*cobra.Command{task.Status(s.Shell), task.Command(s.Shell), task.DeadLetters(s.Shell)}},
		{"agent", "Agents, people and policies:", []*cobra.Command{
			agent.Command(s.Shell), agent.Token(s.Shell), agent.Channel(s.Shell), ticket.Ask(s.Shell), ticket.Command(s.Shell),
			ticket.Approve(s.Shell), ticket.Deny(s.Shell), policy.Command(s.Shell), policy.Route(s.Shell),
		}},
		{"memory", "What agents know:", []*cobra.Command{
			memory.Command(s.Shell), memory.Conversation(s.Shell), envelope.Command(s.Shell), envelope.Parts(s.Shell), envelope.Artifact(s.Shell),
		}},
		{"record", "The record:", []*cobra.Command{audit.Command(s.Shell), audit.Events(s.Shell), audit.Stats(s.Shell), alert.Command(s.Shell), envelope.Drift(s.Shell), audit.Receipt(s.Shell), verify.Command(s.Shell, s.openRecord), witness.Command(s.Shell), erasure.Command(s.Shell), erasure.Hold(s.Shell)}},
		{"server", "Server and set-up:", []*cobra.Command{
			s.stopCommand(), login.Command(s.Shell), login.Logout(s.Shell), workspace.Command(s.Shell), cluster.Command(s.Shell), backup.Command(s.Shell, s.copier), backup.Restore(s.Shell, s.copier), backup.PutAway(s.Shell, s.copier), web.Command(s.Shell), s.mcpCommand(), setup.Hook(s.Shell), bench.Command(s.Shell), s.versionCommand(),
		}},
	}
}

func (s *commands) root() *cobra.Command {
	root := shell.Group("trapeze", "A handoff server for AI agents", s.demoProgramCommand())
	for _, g := range s.groups() {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
	root.SetHelpCommandGroupID("server")
	root.SetCompletionCommandGroupID("server")
	root.Long, root.Version = rootLong, shell.Version()
	root.SilenceErrors, root.SilenceUsage, root.DisableAutoGenTag = true, true, true
	root.SetVersionTemplate("trapeze {{.Version}}\n")
	s.Bind(root)
	shell.CompleteChoices(root)
	completion.Add(s.Shell, root)
	usage.WatchLists(root)
	return root
}

func (s *commands) versionCommand() *cobra.Command {
	return s.Command("version", "Print the version", shell.NoArgs, func(context.Context, []string) error {
		v := struct {
			Version string `json:"version"`
		}{shell.Version()}
		return s.Emit(v, func(p *shell.Page) { p.Line("trapeze %s", v.Version) })
	})
}
