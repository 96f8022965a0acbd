package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
)

func (s *shell) tokenCommand() *cobra.Command {
	return group("token", "Make, list and revoke tokens", s.tokenCreate(), s.tokenList(), s.tokenRevoke())
}

func (s *shell) tokenCreate() *cobra.Command {
	var in client.TokenInput
	var agent, role, expires string
	cmd := s.command("create (--agent NAME | --role ROLE --name NAME)", "Make a token; its text is shown once", noArgs,
		func(ctx context.Context, _ []string) (err error) {
			in.Role = client.Role(role)
			if agent != "" {
				if role != "" && in.Role != client.RoleAgent || in.Name != "" {
					return usagef("--agent stands for a role and a name: leave --role and --name out")
				}
				in.Role, in.Name = client.RoleAgent, agent
			}
			if in.Role == "" || in.Name == "" {
				return usagef("say for whom: --agent NAME, or --role admin, operator, auditor or agent and --name NAME")
			}
			if in.Expires, err = moment("--expires", expires); err != nil {
				return err
			}
			c, err := s.dial(ctx)
			if err != nil {
				return err
			}
			t, err := c.CreateToken(ctx, in)
			if err != nil {
				return err
			}
			return s.emit(t, func(p *page) {
				p.fields(field{"token", t.Text}, field{"id", t.ID}, field{"for", string(t.Role) + "/" + t.Name}, field{"workspace", t.Workspace}, field{"expires", clock(t.Expires)})
				p.line("\nThe token is shown this once. Give it to its program as TRAPEZE_TOKEN.")
			})
		})
	f := cmd.Flags()
	f.StringVar(&agent, "agent", "", "the agent that it is for")
	f.StringVar(&role, "role", "", "admin, operator, auditor or agent")
	f.StringVar(&in.Name, "name", "", "name of the person or program that it is for")
	f.StringVar(&in.Label, "label", "", "what it is for")
	f.StringVar(&in.Workspace, "workspace", "", "where it counts (default: your own workspace)")
	f.StringVar(&expires, "expires", "", "when it ends: 720h, or a time (default: never)")
	return cmd
}

func (s *shell) tokenList() *cobra.Command {
	return s.call("list", "List the tokens, revoked ones too", noArgs, func(ctx context.Context, c *client.Client, _ []string) error {
		list, err := c.Tokens(ctx)
		if err != nil {
			return err
		}
		return s.emit(list, func(p *page) {
			var rows [][]string
			for _, t := range list.Tokens {
				rows = append(rows, []string{
					t.ID, string(t.Role) + "/" + t.Name, clock(t.Created), clock(t.Expires), clock(t.Revoked), t.By, clip(t.Label, 40),
				})
			}
			p.table("There are no tokens.", []string{"ID", "FOR", "CREATED", "EXPIRES", "REVOKED", "BY", "LABEL"}, rows)
		})
	})
}

func (s *shell) tokenRevoke() *cobra.Command {
	return s.call("revoke ID", "End a token for good", cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		t, err := c.RevokeToken(ctx, args[0])
		if err != nil {
			return err
		}
		return s.emit(t, func(p *page) { p.line("Token %s of %s/%s is revoked.", t.ID, t.Role, oneLine(t.Name)) })
	})
}
