package cli

import (
	"context"
	"reflect"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// createFlags are what a task is made of.
type createFlags struct {
	in                          client.CreateInput
	send                        sendFlags
	now                         bool
	priority, deadline, claimed string
	constraints                 []string
	from                        string
}

func (c *createFlags) add(f *pflag.FlagSet) {
	f.BoolVar(&c.in.Start, "start", false, "work on it yourself, as the agent that you are")
	f.BoolVar(&c.now, "send", false, "hand it off at once along its route; --to, --capability or --channel say so by themselves")
	f.StringSliceVar(&c.in.Route, "route", nil, "agents that the task visits in turn (repeatable)")
	f.StringSliceVar(&c.in.Tags, "tag", nil, "a label that the policy's rules may ask for (repeatable)")
	f.StringVar(&c.priority, "priority", "", "low, normal, high or urgent (default normal)")
	f.StringVar(&c.deadline, "deadline", "", "when it goes to the dead letters if it has not ended: 2h, or a time")
	f.StringSliceVar(&c.in.Dependencies, "after", nil, "tasks that must complete before this one can start; with --route, or one --to, it then goes off by itself (repeatable)")
	f.StringArrayVar(&c.constraints, "constraint", nil, "KIND:TEXT, a rule for whoever holds it; KIND!:TEXT must hold (repeatable)")
	f.StringSliceVar(&c.in.Permissions, "permission", nil, "what its holder may do (repeatable; default: not restricted here)")
	f.IntVar(&c.in.Limits.Hops, "limit-hops", 0, "changes of owner (default 10)")
	f.IntVar(&c.in.Limits.Handoffs, "limit-handoffs", 0, "handoffs, successful or not (default 30)")
	f.IntVar(&c.in.Limits.Visits, "limit-visits", 0, "times that one agent may own it (default 5)")
	f.IntVar(&c.in.Limits.Escalations, "limit-escalations", 0, "escalations (default 5)")
	f.IntVar(&c.in.Limits.Attempts, "limit-attempts", 0, "recoveries from a lost owner (default 3)")
	f.IntVar(&c.in.Limits.Tasks, "limit-tasks", 0, "tasks that may come of it, all generations together (default 1000)")
	f.StringVar(&c.in.Conversation, "conversation", "", "the conversation that it belongs to; what is said in that goes along, condensed")
	f.StringVar(&c.from, "from", "", "a file with the handoff document of another system, or an exported envelope, or -, instead of INTENT")
	f.StringVar(&c.claimed, "claimed-history", "", "history from elsewhere as JSON, @FILE or -; kept as claimed")
	addTimeouts(f, &c.in.Timeouts)
	addBudget(f, &c.in.Budget, "of the task")
	c.send.add(f)
	c.send.expected.add(f, "")
}

func (c *createFlags) input(s *commands, intent string) (in client.CreateInput, err error) {
	in = c.in
	if in.Intent, err = s.Text(intent); err != nil {
		return in, err
	}
	in.Priority = client.Priority(c.priority)
	if in.Deadline, err = shell.Moment("--deadline", c.deadline); err != nil {
		return in, err
	}
	if in.Constraints, err = client.ParseConstraints(c.constraints); err != nil {
		return in, shell.Usage(err)
	}
	if in.Claimed, err = s.Document("--claimed-history", c.claimed); err != nil {
		return in, err
	}
	send, err := c.send.input(s)
	if err != nil {
		return in, err
	}
	in.Content, in.Expected = send.Content, send.Expected
	send.Content, send.Expected = client.Content{}, client.Expected{}
	switch {
	case !c.now && c.waits(send):
		in.Route = send.To // it goes there by itself, once it can
	case c.now || c.send.given():
		in.Send = &send
	}
	return in, nil
}

// waits reports whether the task first waits for others and then goes to one agent, with nothing else said about that:
// a route says the same.
func (c *createFlags) waits(send client.SendInput) bool {
	return len(c.in.Dependencies) > 0 && len(c.in.Route) == 0 && !c.in.Start &&
		len(send.To) == 1 && reflect.DeepEqual(send, client.SendInput{To: send.To})
}

func (s *commands) taskCreate() *cobra.Command {
	var flags createFlags
	var cmd *cobra.Command
	cmd = s.Command("create (INTENT | --from FILE)", "Create a task, and start it or hand it off at once", cobra.MaximumNArgs(1),
		func(ctx context.Context, args []string) error {
			if flags.from != "" {
				if err := besideFrom(cmd); err != nil {
					return err
				}
				return s.importTask(ctx, &flags, args)
			}
			if len(args) == 0 {
				return shell.Usagef("say what is wanted, in the requester's own words, or name a document of another system with --from")
			}
			in, err := flags.input(s, args[0])
			if err != nil {
				return err
			}
			c, err := s.Dial(ctx)
			if err != nil {
				return err
			}
			if err := flags.send.attach(ctx, s, c, &in.Content); err != nil {
				return err
			}
			r, err := c.CreateTask(ctx, in)
			return s.EmitReceipt(r, err)
		})
	cmd.Long = `Create a task. The intent is what is wanted, in the requester's own words (text, @FILE or -), and is kept verbatim
for ever. Without --start, --send, --to, --capability or --channel the task stays pending until it is sent.

    trapeze task create "Bake a bread" --to baker --constraint 'prohibition!:no nuts' --expect-format text

With --after it can only start when other tasks have completed, and then goes by itself to the one agent of --to, or along
--route:

    trapeze task create "Eat it" --after $TASK --to guest

With --from it is made from the handoff document of another system, or from an envelope as trapeze envelope show prints it,
of any major of its schema that is known: what that says of the past is kept as claimed, and what became of its fields is
printed. It goes to the agent that the document names, or to --to or --capability.

    trapeze task create --from handoff.json --to coder`
	flags.add(cmd.Flags())
	return cmd
}

// besideFrom refuses flags that say again what a document of another system says.
func besideFrom(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "from", "to", "capability", "start":
		default:
			if cmd.InheritedFlags().Lookup(f.Name) != nil { // every command has it
				return
			}
			err = shell.Hinted(shell.Usagef("--%s cannot be used with --from", f.Name), "with --from use --to, --capability or --start; the rest is in the document")
		}
	})
	return err
}

// importTask makes a task from a document of another system.
func (s *commands) importTask(ctx context.Context, flags *createFlags, args []string) error {
	if len(args) > 0 {
		return shell.Usagef("the intent is in the document: leave %q or --from out", args[0])
	}
	file := flags.from
	if file != "-" {
		file = "@" + file
	}
	doc, err := s.Document("--from "+flags.from, file)
	if err != nil {
		return err
	}
	c, err := s.Dial(ctx)
	if err != nil {
		return err
	}
	out, err := c.ImportTask(ctx, client.ImportInput{Document: doc, To: flags.send.in.To, Capability: flags.send.in.Capability, Start: flags.in.Start})
	if err != nil {
		return err
	}
	return s.Emit(out, func(p *shell.Page) {
		p.Receipt(out.Receipt)
		p.Line("\nRead as %s.", shell.OneLine(out.Format))
		if len(out.Notes) == 0 {
			return
		}
		var rows [][]string
		for _, n := range out.Notes {
			rows = append(rows, []string{n.Field, n.Text})
		}
		p.Table("", []string{"FIELD", "WHAT BECAME OF IT"}, rows)
	})
}

func (s *commands) taskConstrain() *cobra.Command {
	var id string
	var most float64
	var allow []string
	var cmd *cobra.Command
	cmd = s.ownerCommand("constrain [TASK] KIND:TEXT", "Add a rule for whoever holds the task, or tighten one", 1, cobra.RangeArgs(1, 2),
		func(ctx context.Context, c *client.Client, task string, epoch uint64, args []string) (client.Receipt, error) {
			k, err := client.ParseConstraint(args[0])
			if err != nil {
				return client.Receipt{}, shell.Usage(err)
			}
			if id != "" {
				k.ID = id
			}
			if cmd.Flags().Changed("max") {
				k.Max = &most
			}
			if cmd.Flags().Changed("allow") {
				k.Allow = append([]string{}, allow...)
			}
			return c.Constrain(ctx, task, client.ConstrainInput{Epoch: epoch, Constraint: k})
		})
	cmd.Long = `Add a constraint, or tighten the one with the same id. KIND is budget, security, format, preference or prohibition;
KIND! makes it a must. Constraints reach every later envelope and every child, and are only ever tightened.`
	cmd.Flags().StringVar(&id, "id", "", "its id (default: made from its words)")
	cmd.Flags().Float64Var(&most, "max", 0, "the most that is allowed; smaller is tighter")
	cmd.Flags().StringSliceVar(&allow, "allow", nil, "what alone is allowed; fewer is tighter (repeatable)")
	return cmd
}

func (s *commands) taskLift() *cobra.Command {
	return s.Command("lift [TASK] CONSTRAINT WHY", "Take a constraint away, as who set it or as an operator", cobra.RangeArgs(2, 3),
		func(ctx context.Context, args []string) error {
			task, others, err := s.TaskArg(args, 2)
			if err != nil {
				return err
			}
			if err := s.Texts(&others[1]); err != nil {
				return err
			}
			c, err := s.Dial(ctx)
			if err != nil {
				return err
			}
			r, err := c.Lift(ctx, task, others[0], others[1])
			return s.EmitReceipt(r, err)
		})
}
