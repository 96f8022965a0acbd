package task

import (
	"context"
	"reflect"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/handoff"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/cli/usage"
)

// createFlags are the flags of task create.
type createFlags struct {
	in                          client.CreateInput
	send                        handoff.SendFlags
	now                         bool
	priority, deadline, claimed string
	constraints                 []string
	from                        string
	wait                        shell.Duration
}

func (c *createFlags) add(f *pflag.FlagSet) {
	f.BoolVar(&c.in.Start, "start", false, "start to work on it yourself, as the agent that you act as")
	f.BoolVar(&c.now, "send", false, "hand it off at once, along its route; implied by --to, --capability and --channel")
	f.StringSliceVar(&c.in.Route, "route", nil, "agents that the task visits, in order (repeatable)")
	f.StringSliceVar(&c.in.Tags, "tag", nil, "label that policy rules can match (repeatable)")
	f.StringVar(&c.in.Subject, "subject", "", "whom or what it is about, such as patient/4711; trapeze erase subject/NAME erases all that has it")
	shell.Choice(f, &c.priority, "priority", "", "%s (default normal)", client.Priorities())
	f.StringVar(&c.deadline, "deadline", "", "when it goes to the dead letters unless it has ended: a duration such as 2h, or a time")
	f.StringSliceVar(&c.in.Dependencies, "after", nil, "task that must complete before this one starts; with --route or a single --to, it is then handed off automatically (repeatable)")
	shell.TakesIDs(f, "after", "TASK")
	f.StringArrayVar(&c.constraints, "constraint", nil, "constraint on all its owners, as KIND:TEXT; KIND!:TEXT is mandatory; TEXT alone is a prohibition (never, no, do not) or a preference (repeatable)")
	shell.AllowedFlag(f, &c.in.Permissions, "permission", "permission of its owner, or none for no permissions (repeatable; default: not restricted)")
	f.IntVar(&c.in.Limits.Hops, "limit-hops", 0, "maximum number of owner changes (default 10)")
	f.IntVar(&c.in.Limits.Handoffs, "limit-handoffs", 0, "maximum number of handoffs, successful or not (default 30)")
	f.IntVar(&c.in.Limits.Visits, "limit-visits", 0, "how often one agent may own it (default 5)")
	f.IntVar(&c.in.Limits.Escalations, "limit-escalations", 0, "maximum number of escalations (default 5)")
	f.IntVar(&c.in.Limits.Attempts, "limit-attempts", 0, "maximum number of recoveries from a lost owner (default 3)")
	f.IntVar(&c.in.Limits.Tasks, "limit-tasks", 0, "maximum number of descendants, of all generations (default 1000)")
	f.StringVar(&c.in.Conversation, "conversation", "", "conversation that it belongs to, by your name for it or its id; it is sent along in condensed form")
	f.StringVar(&c.from, "from", "", "handoff document of another system, or an exported envelope, instead of INTENT (file name or -)")
	f.StringVar(&c.claimed, "claimed-history", "", "history from another system (JSON, @FILE or -); recorded as claimed")
	shell.WaitFlag(f, &c.wait)
	handoff.AddTimeouts(f, &c.in.Timeouts)
	handoff.AddBudget(f, &c.in.Budget, "for the task")
	c.send.Add(f)
	c.send.AddExpected(f, "")
}

func (c *createFlags) input(ctx context.Context, s *shell.Shell, intent string) (in client.CreateInput, err error) {
	in = c.in
	if in.Intent, err = s.Text(intent); err != nil {
		return in, err
	}
	in.Priority = client.Priority(c.priority)
	if in.Deadline, err = s.Moment(ctx, "--deadline", c.deadline); err != nil {
		return in, err
	}
	if in.Constraints, err = handoff.Constraints(c.constraints); err != nil {
		return in, shell.Usage(err)
	}
	if in.Claimed, err = s.Document("--claimed-history", c.claimed); err != nil {
		return in, err
	}
	send, err := c.send.Input(ctx, s)
	if err != nil {
		return in, err
	}
	in.Content, in.Expected = send.Content, send.Expected
	send.Content, send.Expected = client.Content{}, client.Expected{}
	switch {
	case !c.now && c.waits(send):
		in.Route = send.To // it is handed off when the dependencies have completed
	case c.now || c.send.Given():
		in.Send = &send
	}
	return in, nil
}

// waits reports whether the task first waits for others and then goes to a single agent without further options: that is a
// route of one agent.
func (c *createFlags) waits(send client.SendInput) bool {
	return len(c.in.Dependencies) > 0 && len(c.in.Route) == 0 && !c.in.Start &&
		len(send.To) == 1 && reflect.DeepEqual(send, client.SendInput{To: send.To})
}

func create(s *shell.Shell) *cobra.Command {
	var flags createFlags
	var cmd *cobra.Command
	cmd = s.Command("create (INTENT | --from FILE)", "Create a task, and hand it off or start it", cobra.MaximumNArgs(1),
		func(ctx context.Context, args []string) error {
			if flags.from != "" {
				if err := checkFromFlags(cmd); err != nil {
					return err
				}
				return importTask(ctx, s, &flags, args)
			}
			if len(args) == 0 {
				return shell.Usagef("give the intent, in the requester's own words, or a document of another system with --from")
			}
			in, err := flags.input(ctx, s, args[0])
			if err != nil {
				return err
			}
			c, err := s.Dial(ctx)
			if err != nil {
				return err
			}
			if err := flags.send.Attach(ctx, s, c, &in.Content); err != nil {
				return err
			}
			r, err := c.CreateTask(ctx, in)
			s.Remember(r.Task)
			if !r.Repeat {
				s.Hold(r.Task, r.Owner, r.Epoch)
			}
			if err == nil && flags.wait > 0 {
				return WaitForEnd(ctx, s, c, r.Task, time.Duration(flags.wait))
			}
			return s.EmitReceipt(r, err)
		})
	cmd.Long = `Create a task. INTENT is what the requester wants, in the requester's own words (text, @FILE or -). It is passed on verbatim
and never changes. Without --start, --send, --to, --capability or --channel the task stays pending until it is sent.

    trapeze task create "Bake a bread" --to baker --constraint 'prohibition!:no nuts' --expect-format text

With --wait the command waits until the task is completed, failed, cancelled or in the dead letters, and shows it with its result. Standard error says who has it
meanwhile, and what it waits for. The exit code is 0 if it was completed, 1 if it ended otherwise or is in the dead letters, and 6 if it has not ended by then. If the
call is refused, it is that of the error: see trapeze help exit-codes.

With --after the task waits until other tasks have completed, and is then handed off automatically to the agent of --to, or
along --route:

    trapeze task create "Eat it" --after $TASK --to guest

With --from the task is created from the handoff document of another system, or from an envelope that trapeze envelope show
printed. Its history is recorded as claimed, and the command prints what it did with each field. The task is handed off to the
agent that the document names, or to --to or --capability.

    trapeze task create --from handoff.json --to coder`
	flags.add(cmd.Flags())
	usage.GroupFlags(cmd, handoff.FlagGroups("to capability start wait kind constraint expect artifact priority deadline"))
	return cmd
}
