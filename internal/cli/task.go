package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

func (s *commands) taskCommand() *cobra.Command {
	return shell.Group("task", "Create tasks, work on them, and look at them",
		s.taskCreate(), s.taskShow(), s.taskList(), s.taskStart(), s.taskProgress(), s.taskHeartbeat(), s.taskStuck(),
		s.taskGap(), s.taskComplete(), s.taskFail(), s.taskCancel(), s.taskConstrain(), s.taskLift(), s.taskAnnotate())
}

func (s *commands) taskShow() *cobra.Command {
	var wait shell.Duration
	cmd := s.TaskCall("show [TASK]", "Show a task, and wait for its end", func(ctx context.Context, c *client.Client, task string) error {
		t, err := waitTask(ctx, c, task, time.Duration(wait))
		if err != nil {
			return err
		}
		return s.Emit(t, func(p *shell.Page) {
			taskPage(p, t)
			if wait > 0 && !rests(t) {
				p.Line("\nIt goes on. Wait again with: trapeze task show %s --wait", t.ID)
			}
		})
	})
	cmd.Long = `Show a task. With --wait the command waits until it is completed, failed, cancelled or parked, for 50s or as long as you say
(--wait=10m), and shows it as it is then, with the exit code 0 even if it goes on.`
	cmd.Flags().Var(&wait, "wait", "wait until it has ended or is parked, at most this long")
	cmd.Flags().Lookup("wait").NoOptDefVal = "50s"
	return cmd
}

// waitTask waits as long as asked, in calls that are short enough for anything between here and the server.
func waitTask(ctx context.Context, c *client.Client, id string, wait time.Duration) (client.Task, error) {
	end := time.Now().Add(wait)
	for {
		t, err := c.WaitTask(ctx, id, 0, min(max(time.Until(end), 0), client.MaxWait))
		if err != nil || rests(t) || !time.Now().Before(end) {
			return t, err
		}
	}
}

// rests reports whether nothing more comes of a task unless somebody sees to it.
func rests(t client.Task) bool { return t.State.Final() || t.State == client.Parked }

func taskPage(p *shell.Page, t client.Task) {
	path := make([]string, 0, len(t.Path))
	for _, v := range t.Path {
		path = append(path, v.Agent)
	}
	var depends []string
	for _, d := range t.Dependencies {
		depends = append(depends, d.Task+" ("+string(d.State)+")")
	}
	permissions := shell.Names(t.Permissions)
	if t.Permissions != nil && permissions == "" {
		permissions = "none"
	}
	list := []shell.Field{
		{"task", t.ID},
		{"state", string(t.State)},
		{"owner", t.Owner},
		{"epoch", shell.Number(t.Epoch)},
		{"intent", shell.Clip(t.Intent, 500)},
		{"requester", t.Requester},
		{"priority", string(t.Priority)},
		{"created", shell.Clock(t.Created)},
		{"deadline", shell.Clock(t.Deadline)},
		{"lease until", shell.Clock(t.Lease)},
		{"ended", shell.Clock(t.Ended)},
		{"path", shell.Names(path)},
		{"route", shell.Names(t.Route)},
		{"chain", chainLine(t.Chain)},
		{"permissions", permissions},
		{"depends on", shell.Names(depends)},
		{"parent", t.Parent.Task},
		{"spent tokens", shell.Number(t.Spent.Tokens)},
		{"of", shell.Number(t.Budget.Tokens)},
		{"progress", t.Progress},
		{"parked", shell.Parked(parkedNow(t))},
	}
	for _, c := range t.Children {
		list = append(list, shell.Field{"child", childLine(c)})
	}
	for _, c := range t.Constraints {
		list = append(list, shell.Field{"constraint", constraintLine(c)})
	}
	for _, a := range t.Asks {
		list = append(list, shell.Field{"ask", a.ID + " by " + a.By + " " + a.Detail})
	}
	for _, a := range t.Answers {
		list = append(list, shell.Field{"answer", a.Answer + " (" + a.By + ", asked: " + shell.Clip(a.Question, 100) + ")"})
	}
	if k := t.Ticket; k != nil {
		list = append(list, shell.Field{"ticket", strings.TrimSpace(k.ID + " " + k.Kind + " " + k.State + " " + k.Outcome)})
	}
	p.Fields(list)
	for _, c := range t.Stranded() {
		p.Line("\nIt waits for %s, which is in the dead letters. An operator can replay that: trapeze dead replay %s", c.Task, c.Task)
		if t.Owner != "" {
			p.Line("Its owner can go on without it: trapeze task cancel %s", c.Task)
		} else {
			p.Line("Or call it all off: trapeze task cancel %s", t.ID)
		}
	}
	if t.Handoff != nil {
		p.Line("")
		handoffPage(p, *t.Handoff)
	}
	if t.Result != nil {
		p.Line("")
		title := "result"
		if t.State == client.Failed {
			title = "failed because"
		}
		resultPage(p, title, *t.Result)
	}
}

func parkedNow(t client.Task) *client.ParkedFor {
	if t.State != client.Parked {
		return nil
	}
	return t.Parked
}

// childLine is what the parent knows of a child: whether it has ended, and with what.
func childLine(c client.Child) string {
	state := string(c.State)
	switch {
	case c.State == client.Parked:
		state = "in the dead letters"
	case !c.State.Final():
		state = "open" // where it stands is on the child's own record
	}
	line := c.Task + " to " + c.To + " (" + state + ")"
	came := strings.TrimSpace(c.Why)
	if came == "" && c.Result != nil {
		came = strings.TrimSpace(c.Result.Text)
		if came == "" {
			came = string(c.Result.Data)
		}
	}
	came, _, _ = strings.Cut(came, "\n")
	if came == "" {
		return line
	}
	return line + ": " + shell.Clip(came, 120)
}

func constraintLine(c client.Constraint) string {
	kind := string(c.Kind)
	if c.Hard {
		kind += ", must"
	}
	if c.Max != nil {
		kind += ", at most " + strconv.FormatFloat(*c.Max, 'f', -1, 64)
	}
	switch {
	case c.Allow == nil:
	case len(c.Allow) == 0:
		kind += ", nothing allowed"
	default:
		kind += ", allowed: " + strings.Join(c.Allow, ", ")
	}
	return c.ID + " [" + kind + "] " + c.Text
}

func resultPage(p *shell.Page, title string, r client.Result) {
	p.Line("%s", p.Dim(title))
	if r.Code != 0 {
		p.Fields([]shell.Field{{"exit code", shell.Number(r.Code)}})
	}
	if r.Text != "" {
		p.Block(r.Text)
	}
	if len(r.Data) > 0 {
		p.Block(string(r.Data))
	}
	for _, c := range r.Review {
		p.Fields([]shell.Field{{"to be judged", c}})
	}
}

func (s *commands) taskList() *cobra.Command {
	var f client.TaskFilter
	var state string
	cmd := s.Command("list", "List tasks, newest first", shell.NoArgs, func(ctx context.Context, _ []string) error {
		f.State = client.State(state)
		c, err := s.Dial(ctx)
		if err != nil {
			return err
		}
		list, err := c.Tasks(ctx, f)
		if err != nil {
			return err
		}
		return s.Emit(list, func(p *shell.Page) { taskTable(p, list, "There are no such tasks.") })
	})
	cmd.Flags().StringVar(&state, "state", "", "pending, executing, handing_off, waiting, parked, completed, failed or cancelled")
	cmd.Flags().BoolVar(&f.Live, "live", false, "only those that have not ended")
	cmd.Flags().StringVar(&f.Owner, "owner", "", "only those that this agent owns")
	cmd.Flags().StringVar(&f.Parent, "parent", "", "only the children of this task")
	shell.PageFlags(cmd.Flags(), &f.Limit, &f.After)
	return cmd
}

func taskTable(p *shell.Page, list client.TaskPage, none string) {
	var rows [][]string
	for _, t := range list.Tasks {
		who := t.Owner
		if len(t.To) > 0 && t.State == client.HandingOff {
			who += " → " + shell.Names(t.To)
		}
		rows = append(rows, []string{t.ID, string(t.State), who, string(t.Priority), shell.Clock(t.Updated), shell.Clip(t.Intent, 60)})
	}
	p.Table(none, []string{"TASK", "STATE", "OWNER", "PRIORITY", "UPDATED", "INTENT"}, rows)
	p.More(list.Next)
}

func (s *commands) taskStart() *cobra.Command {
	return s.Call("start TASK", "Work on a task of your own, as the agent that created it", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) error {
			r, err := c.Start(ctx, args[0])
			return s.EmitReceipt(r, err)
		})
}

// ownerCommand is a command of a task's owner: it takes the task and its epoch from the worker where they are not given.
func (s *commands) ownerCommand(use, short string, rest int, args cobra.PositionalArgs,
	do func(ctx context.Context, c *client.Client, task string, epoch uint64, args []string) (client.Receipt, error),
) *cobra.Command {
	var epoch uint64
	cmd := s.Command(use, short, args, func(ctx context.Context, args []string) error {
		task, others, err := s.TaskArg(args, rest)
		if err != nil {
			return err
		}
		for i := range others {
			if err := s.Texts(&others[i]); err != nil {
				return err
			}
		}
		c, err := s.Dial(ctx)
		if err != nil {
			return err
		}
		e, err := s.EpochOf(ctx, c, task, epoch)
		if err != nil {
			return err
		}
		r, err := do(ctx, c, task, e, others)
		return s.EmitReceipt(r, err)
	})
	shell.EpochFlag(cmd.Flags(), &epoch)
	return cmd
}

func usageFlags(cmd *cobra.Command, u *client.Spend) {
	cmd.Flags().Int64Var(&u.Tokens, "tokens", 0, "tokens used since the last report")
	cmd.Flags().Int64Var(&u.Cost, "cost", 0, "cost since the last report, in millionths")
}

func (s *commands) taskProgress() *cobra.Command {
	var used client.Spend
	cmd := s.ownerCommand("progress [TASK] NOTE", "Report what you have done, and renew the lease", 1, cobra.RangeArgs(1, 2),
		func(ctx context.Context, c *client.Client, task string, epoch uint64, args []string) (client.Receipt, error) {
			return c.Progress(ctx, task, client.ProgressInput{Epoch: epoch, Note: args[0], Usage: used})
		})
	usageFlags(cmd, &used)
	return cmd
}

func (s *commands) taskStuck() *cobra.Command {
	var in client.StuckInput
	cmd := s.TaskCall("stuck [TASK]", "Say that its owner gets nowhere: others are asked to take it over at once", func(ctx context.Context, c *client.Client, task string) error {
		r, err := c.Stuck(ctx, task, in)
		return s.EmitReceipt(r, err)
	})
	cmd.Long = `Say that a task's owner gets nowhere: whoever requested the task, the owner of a task above it, and operators may. Those who
stand in for the owner, and then its escalation chain, are offered the task at once, with the last envelope and the progress
notes. Until one of them accepts, progress or a result of the owner ends that; a heartbeat does not.`
	cmd.Flags().StringVar(&in.Detail, "detail", "", "how one can tell")
	return cmd
}

func (s *commands) taskHeartbeat() *cobra.Command {
	return s.ownerCommand("heartbeat [TASK]", "Renew the lease", 0, cobra.MaximumNArgs(1),
		func(ctx context.Context, c *client.Client, task string, epoch uint64, _ []string) (client.Receipt, error) {
			return c.Heartbeat(ctx, task, epoch)
		})
}

func (s *commands) taskGap() *cobra.Command {
	var in client.GapInput
	cmd := s.ownerCommand("gap [TASK] --missing WHAT", "Put on record that something is missing from the context, and work on without it", 0, cobra.MaximumNArgs(1),
		func(ctx context.Context, c *client.Client, task string, epoch uint64, _ []string) (client.Receipt, error) {
			in.Epoch = epoch
			if err := s.Texts(&in.Detail); err != nil {
				return client.Receipt{}, err
			}
			return c.ReportGap(ctx, task, in)
		})
	cmd.Flags().StringSliceVar(&in.Missing, "missing", nil, "what you would need (repeatable)")
	whyFlag(cmd.Flags(), &in.Detail)
	return cmd
}

// resultFlags are what came of a task.
type resultFlags struct{ text, data string }

func (r *resultFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.text, "result", "", "the result (text, @FILE or -)")
	cmd.Flags().StringVar(&r.data, "data", "", "the result as JSON, @FILE or -")
}

func (r *resultFlags) result(s *commands) (out client.Result, err error) {
	if out.Text, err = s.Text(r.text); err != nil {
		return out, err
	}
	var data json.RawMessage
	data, err = s.Document("--data", r.data)
	out.Data = data
	return out, err
}

func (s *commands) taskComplete() *cobra.Command {
	var in client.CompleteInput
	var result resultFlags
	cmd := s.ownerCommand("complete [TASK]", "Finish a task with its result", 0, cobra.MaximumNArgs(1),
		func(ctx context.Context, c *client.Client, task string, epoch uint64, _ []string) (_ client.Receipt, err error) {
			in.Epoch = epoch
			if in.Result, err = result.result(s); err != nil {
				return client.Receipt{}, err
			}
			return c.Complete(ctx, task, in)
		})
	result.add(cmd)
	usageFlags(cmd, &in.Usage)
	return cmd
}

func (s *commands) taskFail() *cobra.Command {
	var in client.FailInput
	var result resultFlags
	cmd := s.ownerCommand("fail [TASK] WHY", "End a task as not done", 1, cobra.RangeArgs(1, 2),
		func(ctx context.Context, c *client.Client, task string, epoch uint64, args []string) (_ client.Receipt, err error) {
			in.Epoch, in.Detail = epoch, args[0]
			if in.Result, err = result.result(s); err != nil {
				return client.Receipt{}, err
			}
			return c.Fail(ctx, task, in)
		})
	result.add(cmd)
	usageFlags(cmd, &in.Usage)
	return cmd
}

func (s *commands) taskCancel() *cobra.Command {
	var in client.CancelInput
	cmd := s.Call("cancel ID", "Call a task off, children included; with the id of a handoff, only take that back", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) (err error) {
			if err := s.Texts(&in.Detail); err != nil {
				return err
			}
			task, isHandoff := taskOf(args[0])
			if !isHandoff {
				r, err := c.Cancel(ctx, args[0], in)
				return s.EmitReceipt(r, err)
			}
			if in.Epoch, err = s.EpochOf(ctx, c, task, in.Epoch); err != nil {
				return err
			}
			r, err := c.Withdraw(ctx, args[0], in)
			return s.EmitReceipt(r, err)
		})
	whyFlag(cmd.Flags(), &in.Detail)
	shell.EpochFlag(cmd.Flags(), &in.Epoch)
	return cmd
}

func (s *commands) taskAnnotate() *cobra.Command {
	return s.Command("annotate TASK ENTRY NOTE", "Correct or comment on an entry of the record, which stays as it is", cobra.ExactArgs(3),
		func(ctx context.Context, args []string) error {
			entry, err := strconv.ParseUint(args[1], 10, 64)
			if err != nil {
				return shell.Usagef("%q is not the position of an entry: trapeze audit show names them", args[1])
			}
			if err := s.Texts(&args[2]); err != nil {
				return err
			}
			c, err := s.Dial(ctx)
			if err != nil {
				return err
			}
			r, err := c.Annotate(ctx, args[0], client.AnnotateInput{Entry: entry, Note: args[2]})
			return s.EmitReceipt(r, err)
		})
}

// chainLine is where a task stands in an escalation chain.
func chainLine(c client.Chain) string {
	if c.Name == "" {
		return ""
	}
	line := fmt.Sprintf("%s, level %d", c.Name, c.Level)
	if c.Agent != "" {
		line += ", " + c.Agent
	}
	return line
}
