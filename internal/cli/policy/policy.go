package policy

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Command is the command group trapeze policy.
func Command(s *shell.Shell) *cobra.Command {
	return shell.Group("policy", "Check, test, show and reload the policy: the rules that route tasks", policyCheck(s), policyShow(s), policyTest(s), policyReload(s), decisions(s))
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
	cmd := s.Command("check FILE", "Check a policy file, and list its problems by line", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		in, err := file(s, args[0])
		if err != nil {
			return err
		}
		out := admin.PolicyChecked{Digest: policy.DigestOf([]byte(in.Text)), Problems: []admin.PolicyProblem{}}
		if offline {
			_, problems := policy.Parse(in.File, []byte(in.Text))
			for _, p := range problems {
				out.Problems = append(out.Problems, admin.PolicyProblem(p))
			}
		} else {
			c, err := s.Dial(ctx)
			if err != nil {
				return err
			}
			if out, err = admin.New(c).CheckPolicy(ctx, in); err != nil {
				return err
			}
		}
		if err := s.Emit(out, func(p *shell.Page) { showChecked(p, out, offline) }); err != nil || len(out.Problems) == 0 {
			return err
		}
		return shell.Hinted(shell.Usagef("the policy file has %s", refusal.Counted(len(out.Problems), "problem")), "fix the problems listed above")
	})
	cmd.Flags().BoolVar(&offline, "offline", false, "check the file without a server: do not check that agents, capabilities, channels and desks exist")
	cmd.Long = `Check a policy file (- for standard input): unknown fields, invalid expressions, escalation chains without an end, cycles, and,
unless --offline, targets that do not exist. The exit code is 0 if the file can be put into force, and 2 if it
cannot; of another error, such as a server that does not answer, see trapeze help exit-codes.

    trapeze policy check policy.yaml`
	return cmd
}

func showChecked(p *shell.Page, out admin.PolicyChecked, offline bool) {
	for _, one := range out.Problems {
		p.Line("%s", policy.Problem(one).String())
	}
	switch {
	case len(out.Problems) > 0:
	case out.InForce:
		p.Line("The file is valid, and in force.")
	case offline:
		p.Line("The file is valid. Whether its targets exist was not checked: that needs a server.")
	default:
		p.Line("The file is valid. trapeze policy reload puts the server's own file into force.")
	}
}

func policyShow(s *shell.Shell) *cobra.Command {
	var versions bool
	var before int
	cmd := s.Call("show", "Show the policy in force, or its versions", shell.NoArgs,
		func(ctx context.Context, c *client.Client, _ []string) error {
			if versions || before > 0 {
				list, err := admin.New(c).Policies(ctx, before)
				return s.Answer(list, err, func(p *shell.Page) {
					shell.List(p, "There has been no policy yet.", []string{"VERSION", "SINCE", "BY", "DIGEST"}, list, func(v admin.Policy) []string {
						return []string{fmt.Sprint(v.Version), shell.Clock(v.Since), v.By, v.Digest}
					})
					if n := len(list); n > 0 && list[n-1].Version > 1 {
						p.MoreBy("--before", fmt.Sprint(list[n-1].Version))
					}
				})
			}
			v, err := admin.New(c).Policy(ctx)
			return s.Answer(v, err, func(p *shell.Page) { showPolicy(p, v); p.Line(""); p.Block(v.Text) })
		})
	cmd.Flags().BoolVar(&versions, "versions", false, "list all versions, the newest first")
	cmd.Flags().IntVar(&before, "before", 0, "list only versions before this one")
	cmd.Long = "Show the policy in force.\n\n    trapeze policy show --versions"
	return cmd
}

func showPolicy(p *shell.Page, v admin.Policy) {
	p.Fields([]shell.Field{
		{"version", fmt.Sprint(v.Version)}, {"since", shell.Clock(v.Since)}, {"by", v.By}, {"digest", v.Digest}, {"file", v.FileProblem},
	})
}

func policyReload(s *shell.Shell) *cobra.Command {
	cmd := s.Call("reload", "Put the server's current policy file into force", shell.NoArgs,
		func(ctx context.Context, c *client.Client, _ []string) error {
			v, err := admin.New(c).ReloadPolicy(ctx)
			return s.Answer(v, err, func(p *shell.Page) { showPolicy(p, v) })
		})
	cmd.Long = `Put the server's current policy file into force, as a SIGHUP to the server does. A file with problems is refused, and the previous
policy stays in force.

    trapeze policy reload`
	return cmd
}

func policyTest(s *shell.Shell) *cobra.Command {
	var task string
	cmd := s.Command("test FILE [SAMPLE]", "Test a policy file on a sample situation, or on a task", cobra.RangeArgs(1, 2), func(ctx context.Context, args []string) error {
		in, err := file(s, args[0])
		if err != nil {
			return err
		}
		switch {
		case (task == "") == (len(args) == 1):
			return shell.Hinted(shell.Usagef("name either a sample situation or a task"), "trapeze policy test FILE SAMPLE.yaml, or: trapeze policy test FILE --task TASK")
		case task == "":
			return testSample(ctx, s, in, args[1])
		}
		c, err := s.Dial(ctx)
		if err != nil {
			return err
		}
		r, err := c.Route(ctx, task, client.RouteInput{Policy: &in})
		return s.Answer(r, err, func(p *shell.Page) { ShowDecision(p, r.Decision) })
	})
	shell.TaskFlag(cmd.Flags(), &task, "task", "task on the server to test the file on")
	cmd.Long = `Test a policy file without putting it into force. A sample is a YAML or JSON file with the values that rules use: the command
prints which rule matches, and why the others do not. It needs no server. With --task, the server says who would get the task.

    trapeze policy test policy.yaml sample.yaml
    trapeze policy test policy.yaml --task TASK

A sample:

    task: {intent: "Please send the invoice again", tags: [vip], priority: high, tokens: 1200, elapsed: 20m, steps: 3}
    agent: {name: router}
    envelope: {confidence: 0.3, open_questions: ["which invoice?"]}`
	return cmd
}

// sampleResult is what the rules decide for a sample.
type sampleResult struct {
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
	out := sampleResult{Keep: true, Passed: m.Passed}
	if m.Rule != nil {
		out.Rule, out.Why, out.Keep = m.Rule.Name, m.Why, m.Rule.Then.Keep
		if !out.Keep {
			out.To = &m.Rule.Then.To
		}
	}
	return s.Emit(out, func(p *shell.Page) {
		to := "nobody: it stays with its owner"
		if out.To != nil {
			to = receiver(client.Receiver{Agent: out.To.Agent, Capability: out.To.Capability, Channel: out.To.Channel, Chain: out.To.Chain, Desk: out.To.Human})
		}
		p.Fields([]shell.Field{{"rule", cmp.Or(out.Rule, "no rule matches")}, {"matched on", strings.Join(out.Why, ", ")}, {"receiver", to}})
		for _, x := range out.Passed {
			p.Line("  %s does not match: %s", x.Rule, x.Why)
		}
	})
}
