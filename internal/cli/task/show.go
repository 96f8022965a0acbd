package task

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/handoff"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

func show(s *shell.Shell) *cobra.Command {
	var wait shell.Duration
	cmd := s.TaskCall("show [TASK]", "Show a task, or wait for its end", func(ctx context.Context, c *client.Client, task string) error {
		_, err := waitAndShow(ctx, s, c, task, time.Duration(wait), anyhow)
		return err
	})
	cmd.Long = `Show a task. With --wait the command waits up to 50s (--wait=10m waits longer) until the task is completed, failed, cancelled or
parked, and then shows it. Standard error says who has it meanwhile, and what it waits for. The exit code is 0 however the task ended, and even if
it has not ended by then; that of an error is in trapeze help exit-codes.`
	shell.WaitFlag(cmd.Flags(), &wait)
	return cmd
}

func permissionsLine(permissions []string) string {
	if permissions != nil && len(permissions) == 0 {
		return "none"
	}
	return shell.Names(permissions)
}

func showTask(p *shell.Page, t client.Task) {
	path := make([]string, 0, len(t.Path))
	for _, v := range t.Path {
		path = append(path, v.Agent)
	}
	var depends []string
	for _, d := range t.Dependencies {
		depends = append(depends, d.Task+" ("+string(d.State)+")")
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
		{"permissions", permissionsLine(t.Permissions)},
		{"depends on", shell.Names(depends)},
		{"parent", t.Parent.Task},
		{"conversation", t.Conversation},
		{"spent tokens", shell.Number(t.Spent.Tokens)},
		{"of", shell.Number(t.Budget.Tokens)},
		{"spent cost", shell.Number(t.Spent.Cost)},
		{"of", shell.Number(t.Budget.Cost)},
		{"progress", t.Progress},
		{"parked", shell.Parked(parkedNow(t))},
		{"not reached", notReached(t)},
	}
	for _, c := range t.Children {
		list = append(list, shell.Field{"child", childLine(c)})
	}
	for _, c := range t.Constraints {
		list = append(list, shell.Field{"constraint", constraintLine(c)})
	}
	for _, a := range t.Takeovers {
		list = append(list, shell.Field{"ask", a.ID + " by " + a.By + " " + a.Detail})
	}
	for _, a := range t.Answers {
		said := a.Answer
		if a.Detail != "" {
			said += " — " + a.Detail
		}
		list = append(list, shell.Field{"answer", said + " (" + a.By + ", asked: " + shell.Clip(a.Question, 100) + ")"})
	}
	if k := t.Ticket; k != nil {
		list = append(list, shell.Field{"ticket", strings.TrimSpace(k.ID + " " + k.Kind + " " + k.State + " " + k.Outcome)})
	}
	p.Fields(list)
	for _, c := range t.Stranded() {
		p.Line("\nThe task waits for %s, which is in the dead letters. An operator can replay it: %s", c.Task, shellword.Command("trapeze dead replay", c.Task))
		if t.Owner != "" {
			p.Next("The owner can continue without it: %s", shellword.Command("trapeze task cancel", c.Task))
		} else {
			p.Next("Or cancel the whole task: %s", shellword.Command("trapeze task cancel", t.ID))
		}
	}
	if t.Handoff != nil {
		p.Line("")
		handoff.Show(p, *t.Handoff)
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

// childLine describes a child as its parent sees it: whether it has ended, and with what result.
func childLine(c client.Child) string {
	state := string(c.State)
	switch {
	case c.State == client.Parked:
		state = "in the dead letters"
	case !c.State.Final():
		state = "open" // trapeze task show CHILD has its state
	}
	line := c.Task + " to " + c.To + " (" + state + ")"
	outcome := strings.TrimSpace(c.Why)
	if outcome == "" && c.Result != nil {
		outcome = strings.TrimSpace(c.Result.Text)
		if outcome == "" {
			outcome = string(c.Result.Data)
		}
	}
	outcome, _, _ = strings.Cut(outcome, "\n")
	if outcome == "" {
		return line
	}
	return line + ": " + shell.Clip(outcome, 120)
}

func constraintLine(c client.Constraint) string {
	by := func(who string) string {
		if who == "" {
			return ""
		}
		return " (" + who + ")"
	}
	tightened := func(who string) string {
		if who == "" {
			return ""
		}
		return " (tightened by " + who + ")"
	}
	kind := string(c.Kind)
	if c.Hard {
		kind += ", mandatory" + by(c.HardBy)
	}
	if c.Max != nil {
		kind += ", at most " + strconv.FormatFloat(*c.Max, 'f', -1, 64) + tightened(c.MaxBy)
	}
	switch {
	case c.Allow == nil:
	case len(c.Allow) == 0:
		kind += ", nothing allowed" + tightened(c.AllowBy)
	default:
		kind += ", allowed: " + strings.Join(c.Allow, ", ") + tightened(c.AllowBy)
	}
	if c.Added {
		kind += ", added by " + c.Origin
	} else {
		kind += ", set by " + c.Origin
	}
	return c.ID + " [" + kind + "] " + c.Text + by(c.TextBy)
}

// chainLine describes the position of a task in its escalation chain.
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

func resultPage(p *shell.Page, title string, r client.Result) {
	p.Line("%s", p.Dim(title))
	if r.Code != 0 {
		p.Fields([]shell.Field{{"exit code", shell.Number(r.Code)}})
	}
	if r.Text != "" {
		p.Quote(r.Text)
	}
	if len(r.Data) > 0 {
		p.Quote(shell.Indented(r.Data))
	}
	for _, c := range r.Review {
		p.Fields([]shell.Field{{"to review", c}})
	}
}

// notReached is who should have got one of the newest children, and why it could not be reached.
func notReached(t client.Task) string {
	var all []string
	for agent, why := range t.NotReached {
		all = append(all, agent+": "+why)
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}
