package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

func (s *commands) tokenCommand() *cobra.Command {
	return shell.Group("token", "Make, list and revoke tokens", s.tokenCreate(), s.tokenList(), s.tokenRevoke())
}

func (s *commands) tokenCreate() *cobra.Command {
	var in client.TokenInput
	var agent, role, expires string
	cmd := s.Command("create (--agent NAME | --role ROLE --name NAME)", "Make a token; its text is shown once", shell.NoArgs,
		func(ctx context.Context, _ []string) (err error) {
			in.Role = client.Role(role)
			if agent != "" {
				if role != "" && in.Role != client.RoleAgent || in.Name != "" {
					return shell.Usagef("--agent stands for a role and a name: leave --role and --name out")
				}
				in.Role, in.Name = client.RoleAgent, agent
			}
			if in.Role == "" || in.Name == "" {
				return shell.Usagef("say for whom: --agent NAME, or --role admin, operator, auditor or agent and --name NAME")
			}
			if in.Expires, err = shell.Moment("--expires", expires); err != nil {
				return err
			}
			c, err := s.Dial(ctx)
			if err != nil {
				return err
			}
			t, err := c.CreateToken(ctx, in)
			if err != nil {
				return err
			}
			return s.Emit(t, func(p *shell.Page) {
				p.Fields([]shell.Field{{"token", t.Text}, {"id", t.ID}, {"for", string(t.Role) + "/" + t.Name}, {"person", t.Person}, {"workspace", t.Workspace}, {"expires", shell.Clock(t.Expires)}})
				p.Line("\nThe token is shown this once. Give it to its program as TRAPEZE_TOKEN.")
			})
		})
	f := cmd.Flags()
	f.StringVar(&agent, "agent", "", "the agent that it is for")
	f.StringVar(&role, "role", "", "admin, operator, auditor or agent")
	f.StringVar(&in.Name, "name", "", "name of the person or program that it is for")
	f.StringVar(&in.Person, "person", "", "of an agent's token: the person at its client, who answers there what people are asked")
	f.StringVar(&in.Label, "label", "", "what it is for")
	f.StringVar(&in.Workspace, "workspace", "", "where it counts (default: your own workspace)")
	f.StringVar(&expires, "expires", "", "when it ends: 720h, or a time (default: never)")
	return cmd
}

func (s *commands) tokenList() *cobra.Command {
	return s.Call("list", "List the tokens, revoked ones too", shell.NoArgs, func(ctx context.Context, c *client.Client, _ []string) error {
		list, err := c.Tokens(ctx)
		if err != nil {
			return err
		}
		return s.Emit(list, func(p *shell.Page) {
			var rows [][]string
			for _, t := range list.Tokens {
				rows = append(rows, []string{
					t.ID, string(t.Role) + "/" + t.Name, shell.Clock(t.Created), shell.Clock(t.Expires), shell.Clock(t.Revoked), t.By, shell.Clip(t.Label, 40),
				})
			}
			p.Table("There are no tokens.", []string{"ID", "FOR", "CREATED", "EXPIRES", "REVOKED", "BY", "LABEL"}, rows)
		})
	})
}

func (s *commands) tokenRevoke() *cobra.Command {
	return s.Call("revoke ID", "End a token for good", cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		t, err := c.RevokeToken(ctx, args[0])
		if err != nil {
			return err
		}
		return s.Emit(t, func(p *shell.Page) { p.Line("Token %s of %s/%s is revoked.", t.ID, t.Role, shell.OneLine(t.Name)) })
	})
}
