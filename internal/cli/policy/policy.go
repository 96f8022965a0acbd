package policy

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/policy"
)

func policies(s *shell.Shell) *cobra.Command {
	return shell.Group("policy", "Rules and chains that say where tasks go: check, show, try and reload them", policyCheck(s), policyShow(s), policyTest(s), policyReload(s))
}

// file reads a policy file, or - for standard input.
func file(s *shell.Shell, arg string) (client.PolicyCheck, error) {
	in := client.PolicyCheck{File: filepath.Base(arg)}
	from := "@" + arg
	if arg == "-" {
		in.File, from = "stdin", arg
	}
	var err error
	in.Text, err = s.Text(from)
	return in, err
}

func policyCheck(s *shell.Shell) *cobra.Command {
	var offline bool
	cmd := s.Command("check FILE", "Find what is wrong with a policy file, with line and reason", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		in, err := file(s, args[0])
		if err != nil {
			return err
		}
		out := client.PolicyChecked{Digest: policy.DigestOf([]byte(in.Text)), Problems: []client.PolicyProblem{}}
		if offline {
			_, problems := policy.Parse(in.File, []byte(in.Text))
			for _, p := range problems {
				out.Problems = append(out.Problems, client.PolicyProblem(p))
			}
		} else {
			c, err := s.Dial(ctx)
			if err != nil {
				return err
			}
			if out, err = c.CheckPolicy(ctx, in); err != nil {
				return err
			}
		}
		if err := s.Emit(out, func(p *shell.Page) { showChecked(p, out, offline) }); err != nil || len(out.Problems) == 0 {
			return err
		}
		return shell.Hinted(shell.Usagef("the policy file has %d problems", len(out.Problems)), "mend the file")
	})
	cmd.Flags().BoolVar(&offline, "offline", false, "look at the file alone: agents, capabilities, channels and desks may not exist")
	cmd.Long = `Find what is wrong with a policy file, or - for standard input: unknown fields, bad expressions, chains without an end,
cycles, and, unless --offline, targets that do not exist. The exit code is 0 if it could come into force, and otherwise 2.

    trapeze policy check policy.yaml`
	return cmd
}

func showChecked(p *shell.Page, out client.PolicyChecked, offline bool) {
	for _, one := range out.Problems {
		p.Line("%s", policy.Problem(one).String())
	}
	switch {
	case len(out.Problems) > 0:
	case out.InForce:
		p.Line("The file is good, and in force.")
	case offline:
		p.Line("The file by itself is good. Whether its targets exist, a server knows.")
	default:
		p.Line("The file is good. trapeze policy reload brings the server's own file into force.")
	}
}

func policyShow(s *shell.Shell) *cobra.Command {
	var versions bool
	var before int
	cmd := s.Call("show", "Show the policy in force, or with --versions all that came into force", shell.NoArgs,
		func(ctx context.Context, c *client.Client, _ []string) error {
			if versions || before > 0 {
				list, err := c.Policies(ctx, before)
				if err != nil {
					return err
				}
				return s.Emit(list, func(p *shell.Page) {
					var rows [][]string
					for _, v := range list {
						rows = append(rows, []string{fmt.Sprint(v.Version), shell.Clock(v.Since), v.By, v.Digest})
					}
					p.Table("No policy ever came into force.", []string{"VERSION", "SINCE", "BY", "DIGEST"}, rows)
					if n := len(list); n > 0 && list[n-1].Version > 1 {
						p.Line("There are more: --before %d", list[n-1].Version)
					}
				})
			}
			v, err := c.Policy(ctx)
			if err != nil {
				return err
			}
			return s.Emit(v, func(p *shell.Page) { showPolicy(p, v); p.Line(""); p.Line("%s", strings.TrimSuffix(v.Text, "\n")) })
		})
	cmd.Flags().BoolVar(&versions, "versions", false, "list the policies that came into force, the newest first")
	cmd.Flags().IntVar(&before, "before", 0, "list only versions before this one")
	cmd.Long = "Show the policy in force.\n\n    trapeze policy show --versions"
	return cmd
}

func showPolicy(p *shell.Page, v client.Policy) {
	p.Fields([]shell.Field{
		{"version", fmt.Sprint(v.Version)}, {"since", shell.Clock(v.Since)}, {"by", v.By}, {"digest", v.Digest}, {"file", v.FileProblem},
	})
}

func policyReload(s *shell.Shell) *cobra.Command {
	cmd := s.Call("reload", "Bring the server's policy file, as it is now, into force", shell.NoArgs,
		func(ctx context.Context, c *client.Client, _ []string) error {
			v, err := c.ReloadPolicy(ctx)
			if err != nil {
				return err
			}
			return s.Emit(v, func(p *shell.Page) { showPolicy(p, v) })
		})
	cmd.Long = `Bring the server's policy file, as it is now, into force, as a SIGHUP to the server does. A file with any problem is
refused with all of them, and the policy in force stays.

    trapeze policy reload`
	return cmd
}

func policyTest(s *shell.Shell) *cobra.Command {
	var task string
	cmd := s.Command("test FILE [SAMPLE]", "Try a policy file on a sample situation, or on a task", cobra.RangeArgs(1, 2), func(ctx context.Context, args []string) error {
		in, err := file(s, args[0])
		if err != nil {
			return err
		}
		switch {
		case (task == "") == (len(args) == 1):
			return shell.Hinted(shell.Usagef("name a sample situation or a task"), "trapeze policy test FILE SAMPLE.yaml, or: trapeze policy test FILE --task TASK")
		case task == "":
			return testSample(ctx, s, in, args[1])
		}
		c, err := s.Dial(ctx)
		if err != nil {
			return err
		}
		r, err := c.Route(ctx, task, client.RouteInput{Policy: &in})
		if err != nil {
			return err
		}
		return s.Emit(r, func(p *shell.Page) { ShowDecision(p, r.Decision) })
	})
	cmd.Flags().StringVar(&task, "task", "", "a task on the server, as it is now")
	cmd.Long = `Try a policy file without bringing it into force. A sample is a file (YAML or JSON) that says what rules look at; then no server
is asked, and you are told which rule matches and why the others do not. With --task the server is asked, and says who would
get the task.

    trapeze policy test policy.yaml sample.yaml
    trapeze policy test policy.yaml --task TASK

A sample:

    task: {intent: "Please send the invoice again", tags: [vip], priority: high, tokens: 1200, elapsed: 20m, steps: 3}
    agent: {name: router}
    envelope: {confidence: 0.3, open_questions: ["which invoice?"]}`
	return cmd
}

// sampled is what the rules say of a sample.
type sampled struct {
	Rule   string          `json:"rule,omitempty"` // empty: none matches
	Why    []string        `json:"why,omitempty"`
	Keep   bool            `json:"keep"`
	To     *policy.Target  `json:"to,omitempty"`
	Passed []policy.Passed `json:"passed_over,omitempty"`
}

func testSample(ctx context.Context, s *shell.Shell, in client.PolicyCheck, arg string) error {
	p, problems := policy.Parse(in.File, []byte(in.Text))
	if p == nil {
		return problems.Err()
	}
	sample, err := file(s, arg)
	if err != nil {
		return err
	}
	situation, problems := policy.ReadSituation(sample.File, []byte(sample.Text))
	if err := problems.Err(); err != nil {
		return err
	}
	m, err := p.Match(ctx, &situation)
	if err != nil {
		return err
	}
	out := sampled{Keep: true, Passed: m.Passed}
	if m.Rule != nil {
		out.Rule, out.Why, out.Keep = m.Rule.Name, m.Why, m.Rule.Then.Keep
		if !out.Keep {
			out.To = &m.Rule.Then.To
		}
	}
	return s.Emit(out, func(p *shell.Page) {
		to := "nobody: it stays where it is"
		if out.To != nil {
			to = receiver(client.Receiver{Agent: out.To.Agent, Capability: out.To.Capability, Channel: out.To.Channel, Chain: out.To.Chain, Desk: out.To.Human})
		}
		p.Fields([]shell.Field{{"rule", or(out.Rule, "none matches")}, {"because of", strings.Join(out.Why, ", ")}, {"goes to", to}})
		for _, x := range out.Passed {
			p.Line("  %s does not match: %s", x.Rule, x.Why)
		}
	})
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
