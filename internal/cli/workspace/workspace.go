package workspace

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Command is the command group trapeze workspace.
func Command(s *shell.Shell) *cobra.Command {
	return shell.Group("workspace", "Make workspaces for teams that share a server, limit and archive them", create(s), list(s), show(s), limit(s), archive(s), restore(s), export(s), importFile(s))
}

func create(s *shell.Shell) *cobra.Command {
	var in admin.WorkspaceInput
	var role string
	cmd := s.Command("create NAME", "Make a workspace, and its first token, which is shown once", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error {
			in.Name, in.Role = args[0], client.Role(role)
			if err := s.Texts(&in.Description); err != nil {
				return err
			}
			c, err := s.Dial(ctx)
			if err != nil {
				return err
			}
			w, err := admin.New(c).CreateWorkspace(ctx, in)
			return s.Answer(w, err, func(p *shell.Page) { fields(p, w) })
		})
	f := cmd.Flags()
	f.StringVar(&in.Description, "description", "", "purpose of the workspace (text, @FILE or -)")
	shell.Choice(f, &role, "role", "", "role of the bearer of the first token: %s (default: admin)", []client.Role{client.RoleAdmin, client.RoleOperator})
	f.StringVar(&in.Bearer, "name", "", "name of the person whom the first token is for (default: your own)")
	f.Int64Var(&in.Limits.OpenTasks, "tasks", 0, "limit of tasks that have not ended")
	f.Int64Var(&in.Limits.EntriesPerDay, "entries", 0, "limit of entries of the record on a day in UTC")
	f.Int64Var(&in.Limits.ArtifactBytes, "artifact-bytes", 0, "limit of bytes of all artifacts")
	f.Int64Var(&in.Limits.Agents, "agents", 0, "limit of registered agents")
	return shell.Example(cmd, "trapeze workspace create red --name ann --agents 50")
}

func list(s *shell.Shell) *cobra.Command {
	var o admin.WorkspaceOptions
	cmd := s.Call("list", "List the workspaces by name, archived ones included", shell.NoArgs, func(ctx context.Context, c *client.Client, _ []string) error {
		page, err := admin.New(c).Workspaces(ctx, o)
		return s.Answer(page, err, func(p *shell.Page) {
			shell.List(p, "", []string{"NAME", "STATE", "MADE", "BY", "DESCRIPTION"}, page.Workspaces, func(w admin.Workspace) []string {
				return []string{w.Name, state(w), shell.Clock(w.Created), w.By, shell.Clip(w.Description, 60)}
			})
			p.More(page.Next)
		})
	})
	shell.PageFlags(cmd.Flags(), &o.Limit, &o.After)
	return shell.Example(cmd, "trapeze workspace list --limit 10")
}

func state(w admin.Workspace) string {
	switch {
	case w.Archived.IsZero():
		return "open"
	case w.MovedTo != "":
		return "moved"
	case w.Arriving:
		return "arriving"
	}
	return "archived"
}

func show(s *shell.Shell) *cobra.Command {
	cmd := s.Call("show NAME", "Show a workspace: what it uses, and its limits", cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		w, err := admin.New(c).Workspace(ctx, args[0])
		return s.Answer(w, err, func(p *shell.Page) { fields(p, w) })
	})
	return shell.Example(cmd, "trapeze workspace show red")
}

func limit(s *shell.Shell) *cobra.Command {
	var tasks, entries, bytes, agents int64
	var flags *pflag.FlagSet
	cmd := s.Call("limit NAME", "Change the limits of a workspace; 0 is none", cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		var in admin.LimitsInput
		for name, to := range map[string]struct {
			field **int64
			value *int64
		}{"tasks": {&in.OpenTasks, &tasks}, "entries": {&in.EntriesPerDay, &entries}, "artifact-bytes": {&in.ArtifactBytes, &bytes}, "agents": {&in.Agents, &agents}} {
			if flags.Changed(name) {
				*to.field = to.value
			}
		}
		if in == (admin.LimitsInput{}) {
			return shell.Usagef("name a limit: --tasks, --entries, --artifact-bytes or --agents")
		}
		w, err := admin.New(c).SetLimits(ctx, args[0], in)
		return s.Answer(w, err, func(p *shell.Page) { fields(p, w) })
	})
	flags = cmd.Flags()
	flags.Int64Var(&tasks, "tasks", 0, "tasks that have not ended")
	flags.Int64Var(&entries, "entries", 0, "entries of the record on a day in UTC")
	flags.Int64Var(&bytes, "artifact-bytes", 0, "bytes of all artifacts")
	flags.Int64Var(&agents, "agents", 0, "registered agents")
	cmd.Long = `Change the limits of a workspace from the next call on; those that are not named stay as they are. What is there already stays. A call that would exceed
a limit is refused, with the name of the limit.`
	return shell.Example(cmd, "trapeze workspace limit red --tasks 10000 --entries 500000")
}

func archive(s *shell.Shell) *cobra.Command {
	var why string
	cmd := s.Call("archive NAME", "Archive a workspace: it can be read, and nothing in it changes", cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		w, err := admin.New(c).ArchiveWorkspace(ctx, args[0], admin.ArchiveInput{Why: why})
		return s.Answer(w, err, func(p *shell.Page) { p.Line("The workspace %s is archived.", w.Name) })
	})
	cmd.Long = "Archive a workspace: calls that would change something are refused, its timers stand still, and it can be read as before."
	cmd.Flags().StringVar(&why, "why", "", "why; the record keeps it")
	_ = cmd.MarkFlagRequired("why")
	return shell.Example(cmd, "trapeze workspace archive red --why 'the project is over'")
}

func restore(s *shell.Shell) *cobra.Command {
	cmd := s.Call("restore NAME", "Restore an archived workspace; what became due meanwhile happens at once", cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		w, err := admin.New(c).RestoreWorkspace(ctx, args[0])
		return s.Answer(w, err, func(p *shell.Page) { p.Line("The workspace %s is restored.", w.Name) })
	})
	return shell.Example(cmd, "trapeze workspace restore red")
}

// fields shows a workspace.
func fields(p *shell.Page, w admin.Workspace) {
	list := []shell.Field{
		{"workspace", w.Name}, {"description", w.Description}, {"made", shell.Clock(w.Created)}, {"by", w.By}, {"state", state(w)}, {"since", shell.Clock(w.Archived)}, {"why", w.Why}, {"moved to", w.MovedTo}, {"from", w.From},
	}
	used := func(n func(*admin.Usage) int64, most int64, unit string) string {
		switch {
		case w.Used != nil && most > 0:
			return fmt.Sprintf("%d of %d%s", n(w.Used), most, unit)
		case w.Used != nil:
			return strconv.FormatInt(n(w.Used), 10) + unit
		case most > 0:
			return fmt.Sprintf("at most %d%s", most, unit)
		}
		return ""
	}
	p.Fields(append(
		list, shell.Field{"open tasks", used(func(u *admin.Usage) int64 { return u.OpenTasks }, w.Limits.OpenTasks, "")},
		shell.Field{"entries", used(func(u *admin.Usage) int64 { return u.EntriesToday }, w.Limits.EntriesPerDay, " today (UTC)")},
		shell.Field{"artifacts", used(func(u *admin.Usage) int64 { return u.ArtifactBytes }, w.Limits.ArtifactBytes, " bytes")},
		shell.Field{"agents", used(func(u *admin.Usage) int64 { return u.Agents }, w.Limits.Agents, "")},
	))
	if w.Token != nil {
		p.Line("")
		p.Fields([]shell.Field{{"token", w.Token.Text}, {"id", w.Token.ID}, {"for", shell.Principal(w.Token.Role, w.Token.Name)}})
		p.Line("\nThe token is not shown again. Pass it to its bearer.")
	}
}
