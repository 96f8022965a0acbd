package agent

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Token is the command group trapeze token.
func Token(s *shell.Shell) *cobra.Command {
	return shell.Group("token", "Create, list and revoke tokens", tokenCreate(s), tokenList(s), tokenRevoke(s))
}

func tokenCreate(s *shell.Shell) *cobra.Command {
	var in client.TokenInput
	var agent, role, expires string
	cmd := s.Command("create (--agent NAME | --role ROLE --name NAME)", "Create a token; its text is shown once", shell.NoArgs,
		func(ctx context.Context, _ []string) (err error) {
			in.Role = client.Role(role)
			if agent != "" {
				if role != "" && in.Role != client.RoleAgent || in.Name != "" {
					return shell.Usagef("--agent sets role and name: omit --role and --name")
				}
				in.Role, in.Name = client.RoleAgent, agent
			}
			if in.Role == "" || in.Name == "" {
				return shell.Usagef("name the token's holder: --agent NAME, or --role %s with --name NAME", shell.OneOf(client.Roles()))
			}
			if in.Expires, err = s.Moment(ctx, "--expires", expires); err != nil {
				return err
			}
			c, err := s.Dial(ctx)
			if err != nil {
				return err
			}
			t, err := c.CreateToken(ctx, in)
			return s.Answer(t, err, func(p *shell.Page) {
				p.Fields([]shell.Field{{"token", t.Text}, {"id", t.ID}, {"for", shell.Principal(t.Role, t.Name)}, {"person", t.Person}, {"workspace", t.Workspace}, {"expires", shell.Clock(t.Expires)}})
				p.Line("\nThe token is not shown again. Pass it to the program as TRAPEZE_TOKEN.")
			})
		})
	f := cmd.Flags()
	f.StringVar(&agent, "agent", "", "agent that the token is for")
	shell.Choice(f, &role, "role", "", "%s", client.Roles())
	f.StringVar(&in.Name, "name", "", "name of the person or program that the token is for")
	f.StringVar(&in.Person, "person", "", "with an agent's token: person at the agent's client, who answers questions there")
	f.StringVar(&in.Label, "label", "", "note on the purpose of the token")
	f.StringVar(&in.Workspace, "workspace", "", "workspace that it is valid in (default: your own)")
	f.StringVar(&expires, "expires", "", "when it expires: a duration such as 720h, or a time (default: never)")
	return cmd
}

func tokenList(s *shell.Shell) *cobra.Command {
	var all bool
	cmd := s.Call("list", "List the tokens that count", shell.NoArgs, func(ctx context.Context, c *client.Client, _ []string) error {
		list, err := c.Tokens(ctx)
		over := 0
		if !all {
			n := len(list.Tokens)
			list.Tokens = slices.DeleteFunc(list.Tokens, func(t client.Token) bool { return ended(t, time.Now()) })
			over = n - len(list.Tokens)
		}
		return s.Answer(list, err, func(p *shell.Page) {
			shell.List(p, "There are no tokens.", []string{"ID", "FOR", "CREATED", "EXPIRES", "REVOKED", "BY", "LABEL"}, list.Tokens, func(t client.Token) []string {
				return []string{
					t.ID, shell.Principal(t.Role, t.Name), shell.Clock(t.Created), shell.Clock(t.Expires), shell.Clock(t.Revoked), t.By, shell.Clip(t.Label, 40),
				}
			})
			if over > 0 {
				p.Line("\nRevoked or expired, and not listed: %d (--all lists them)", over)
			}
		})
	})
	cmd.Flags().BoolVar(&all, "all", false, "list those too that were revoked or have expired")
	return cmd
}

// ended reports whether a token counts no more.
func ended(t client.Token, now time.Time) bool {
	return !t.Revoked.IsZero() || !t.Expires.IsZero() && !t.Expires.After(now)
}

func tokenRevoke(s *shell.Shell) *cobra.Command {
	return s.Call("revoke ID", "Revoke a token for good", cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		t, err := c.RevokeToken(ctx, args[0])
		return s.Answer(t, err, func(p *shell.Page) { p.Line("Token %s of %s/%s is revoked.", t.ID, t.Role, shell.OneLine(t.Name)) })
	})
}
