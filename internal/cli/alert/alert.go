package alert

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// usualWait is how long --wait waits without a value.
const usualWait = 50 * time.Second

// Command is the command group trapeze alerts.
func Command(s *shell.Shell) *cobra.Command {
	return shell.Group("alerts", "Show what is wrong and what to do about it, or silence it", list(s), show(s), silence(s), endSilence(s))
}

func list(s *shell.Shell) *cobra.Command {
	var o admin.AlertOptions
	var wait shell.Duration
	cmd := s.Call("list", "List the alerts that are raised, the most severe first, or wait for one", shell.NoArgs, func(ctx context.Context, c *client.Client, _ []string) error {
		all, err := shell.WaitThrough(ctx, s, c, time.Duration(wait), func(ctx context.Context, wait time.Duration) (admin.AlertList, bool, error) {
			o.Wait = min(wait, usualWait).Truncate(time.Millisecond)
			all, err := admin.New(c).Alerts(ctx, o)
			return all, len(all.Alerts) > 0, err
		})
		return s.Answer(all, err, func(p *shell.Page) { showList(p, all) })
	})
	cmd.Long = `List the alerts that are raised, and the silences. The server raises an alert when a figure is beyond its threshold, and records that it
did and that the alert recovered. docs/alerts.md lists all alerts; a policy can change their thresholds.`
	fs := cmd.Flags()
	shell.Choice(fs, &o.Severity, "severity", "", "list only alerts at least as severe: %s", admin.Severities())
	fs.BoolVar(&o.Past, "past", false, "list the last alerts that recovered, too")
	fs.Var(&wait, "wait", "wait until there is one, at most this long")
	fs.Lookup("wait").NoOptDefVal = usualWait.String()
	return shell.Example(cmd, "trapeze alerts list --severity warning")
}

func showList(p *shell.Page, all admin.AlertList) {
	shell.List(p, "There are no alerts.", []string{"SEVERITY", "ALERT", "STATE", "SINCE", "VALUE", "THRESHOLD", "WHAT IS WRONG"}, all.Alerts, func(a admin.Alert) []string {
		state := a.State
		if a.Silence != nil && a.State == "raised" {
			state = "silenced"
		} else if a.Within != "" && a.State == "raised" {
			state = "in " + a.Within
		}
		return []string{a.Severity, a.ID, state, clock(a.Since), shell.OneLine(cmp.Or(a.Now, a.Measured)), shell.OneLine(a.Limit), shell.OneLine(a.Meaning)}
	})
	if len(all.Silences) > 0 {
		p.Line("")
		shell.List(p, "", []string{"SILENCE", "ALERT", "UNTIL", "BY", "REASON"}, all.Silences, func(o admin.AlertSilence) []string {
			return []string{o.ID, o.Alert, shell.Clock(o.Until), o.By, shell.OneLine(o.Reason)}
		})
	}
	if len(all.Alerts) > 0 {
		p.Line("\nSee what is behind the first: %s", shellword.Command("trapeze alerts show", all.Alerts[0].ID))
	}
}

func clock(at *time.Time) string {
	if at == nil {
		return "-"
	}
	return shell.Clock(*at)
}

func show(s *shell.Shell) *cobra.Command {
	cmd := s.Call("show ALERT", "Show an alert: since when, which handoffs are behind it, and what to do", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) error {
			a, err := admin.New(c).Alert(ctx, args[0])
			return s.Answer(a, err, func(p *shell.Page) { showAlert(p, a) })
		})
	cmd.Long = "Show an alert by its id: its name and, of one of an agent, a colon and the agent. One that is not raised is shown as it is defined."
	return shell.Example(cmd, "trapeze alerts show circuit-open:coder")
}

func showAlert(p *shell.Page, a admin.Alert) {
	p.Line("%s", shell.OneLine(a.Meaning))
	p.Line("")
	fields := []shell.Field{{"alert", a.ID}, {"state", a.State}, {"severity", a.Severity}, {"figure", shell.OneLine(a.Reading())}}
	if a.Since != nil {
		fields = append(fields, shell.Field{"since", clock(a.Since)}, shell.Field{"raised", clock(a.Raised)})
	}
	if a.Recovered != nil {
		fields = append(fields, shell.Field{"recovered", clock(a.Recovered)})
		if why := a.Why(); why != "" {
			fields[len(fields)-1][1] += ": " + why
		}
	}
	if a.Within != "" {
		fields = append(fields, shell.Field{"within", a.Within + ", which is severer; people were notified of that one"})
	}
	if a.Remains != "" {
		fields = append(fields, shell.Field{"remains", a.Remains})
	}
	if o := a.Silence; o != nil {
		fields = append(fields, shell.Field{"silenced", "until " + shell.Clock(o.Until) + " by " + o.By + ": " + shell.OneLine(o.Reason)})
	}
	if len(a.Agents) > 0 {
		fields = append(fields, shell.Field{"agents", fmt.Sprintf("%d: %s", a.Number, shell.OneLine(shell.Names(a.Agents)))})
	}
	if len(a.Senders) > 0 {
		fields = append(fields, shell.Field{"senders", shell.OneLine(shell.Names(a.Senders))})
	}
	if len(a.Handoffs) > 0 {
		fields = append(fields, shell.Field{"handoffs", shell.OneLine(shell.Names(a.Handoffs))})
	}
	if len(a.Tickets) > 0 {
		fields = append(fields, shell.Field{"tickets", shell.OneLine(shell.Names(a.Tickets))})
	}
	p.Fields(fields)
	p.Line("\n%s", shell.OneLine(strings.ReplaceAll(a.Do, "`", "")))
	if a.Command != "" {
		p.Line("Begin with: %s", shell.OneLine(a.Command))
	}
}

func silence(s *shell.Shell) *cobra.Command {
	var in admin.SilenceInput
	var long shell.Duration
	cmd := s.Call("silence ALERT", "Notify nobody of an alert for a time", cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		in.Alert, in.For = args[0], client.Duration(long)
		o, err := admin.New(c).SilenceAlert(ctx, in)
		return s.Answer(o, err, func(p *shell.Page) {
			p.Line("%s is silenced until %s. End it before with: %s", o.Alert, shell.Clock(o.Until), shellword.Command("trapeze alerts end-silence", o.ID))
		})
	})
	cmd.Long = `Silence an alert: it is raised and recovers as before, and is listed, but nobody is notified. The name of an alert without an agent is
the alert of every agent. When the silence ends, people are notified of the alerts that are still raised.`
	cmd.Flags().StringVar(&in.Reason, "why", "", "reason, in words (needed)")
	cmd.Flags().Var(&long, "for", "how long, from 1m to 720h (needed)")
	for _, name := range []string{"why", "for"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // only a flag that does not exist is an error
		}
	}
	return shell.Example(cmd, "trapeze alerts silence circuit-open:coder --for 2h --why 'is being repaired'")
}

func endSilence(s *shell.Shell) *cobra.Command {
	cmd := s.Call("end-silence SILENCE", "End a silence before its time", cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		all, err := admin.New(c).EndSilence(ctx, args[0])
		return s.Answer(all, err, func(p *shell.Page) { showList(p, all) })
	})
	return shell.Example(cmd, "trapeze alerts end-silence s1")
}
