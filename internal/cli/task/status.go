package task

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// overview is what moves, what waits and what is stuck.
type overview struct {
	Moving  []client.TaskRow `json:"moving"`  // in work, or offered to a receiver
	Waiting []client.TaskRow `json:"waiting"` // for a sender, children, dependencies, people or agents that are not there
	Stuck   []client.TaskRow `json:"stuck"`   // in the dead letters
	Tickets []client.Ticket  `json:"tickets"` // that wait for people
	Agents  []client.Agent   `json:"agents"`
	More    bool             `json:"more"` // there are more tasks than were read
}

// Status is the command trapeze status.
func Status(s *shell.Shell) *cobra.Command {
	cmd := s.Call("status", "Show what moves, what waits, and what is stuck", shell.NoArgs, func(ctx context.Context, c *client.Client, _ []string) error {
		o, err := readOverview(ctx, c)
		return s.Answer(o, err, func(p *shell.Page) { showOverview(p, o) })
	})
	cmd.Long = `Show the tasks that have not ended, 500 at most: those that move, those that wait, also for an agent that is not there, and those that
are stuck in the dead letters, each with what helps; the tickets that wait for people; and the agents, those that hold most first, with when the server last heard of them.`
	return cmd
}

func readOverview(ctx context.Context, c *client.Client) (overview, error) {
	o := overview{Moving: []client.TaskRow{}, Waiting: []client.TaskRow{}, Stuck: []client.TaskRow{}}
	page, err := c.Tasks(ctx, client.TaskFilter{Live: true, Limit: 500})
	if err != nil {
		return o, err
	}
	agents, err := c.Agents(ctx)
	if err != nil {
		return o, err
	}
	o.More, o.Agents = page.Next != "", agents.Agents
	for _, t := range page.Tasks {
		switch {
		case t.State == client.Parked:
			o.Stuck = append(o.Stuck, t)
		case (t.State == client.Executing || t.State == client.HandingOff) && o.away(t) == "":
			o.Moving = append(o.Moving, t)
		default:
			o.Waiting = append(o.Waiting, t)
		}
	}
	tickets, err := c.Tickets(ctx, client.TicketFilter{})
	o.Tickets = tickets.Tickets
	return o, err
}

// away says which agent a task waits for because it is offline: the owner, or all that it is offered to, of which the server may not have heard yet
// either; empty if there is none.
func (o overview) away(t client.TaskRow) string {
	var who []string
	switch t.State {
	case client.Executing:
		who = []string{t.Owner}
	case client.HandingOff:
		who = t.To
	default:
	}
	is := " is offline"
	for _, name := range who {
		i := slices.IndexFunc(o.Agents, func(a client.Agent) bool { return a.Name == name })
		switch {
		case i >= 0 && o.Agents[i].Readiness == client.Offline:
		case i >= 0 && t.State == client.HandingOff && o.Agents[i].Seen.IsZero():
			is = " has not asked for work since the server started"
		default:
			return ""
		}
	}
	if len(who) == 0 {
		return ""
	}
	return shell.OneOf(who) + is
}

func showOverview(p *shell.Page, o overview) {
	section := func(title, none string, rows []client.TaskRow) {
		p.Line("%s", title)
		showTasks(p, client.TaskPage{Tasks: rows}, none)
		p.Line("")
	}
	section("Moving", "  nothing: trapeze task create \"…\" --to AGENT hands a task off", o.Moving)
	section("Waiting", "  nothing", o.Waiting)
	section("Stuck", "  nothing", o.Stuck)
	showAgents(p, o.Agents)
	showAway(p, o)
	for _, t := range o.Stuck {
		if t.Parked != nil {
			p.Line("%s is in the dead letters; replay it with: %s", t.ID, shellword.Command("trapeze dead replay", t.ID))
			p.Quote(shell.Clip(t.Parked.Detail, 100))
		}
	}
	for _, k := range o.Tickets {
		p.Next("%s waits for people; see it with: %s", k.ID, shellword.Command("trapeze ticket show", k.ID))
		p.Quote(shell.Clip(cmp.Or(k.Question, k.Kind+" of: "+k.Intent), 100))
	}
	if o.More {
		p.Next("There are more tasks: trapeze task list --live")
	}
}

// maxAway is how many of the tasks that wait for an agent are named.
const maxAway = 3

// showAway says which tasks wait for agents that are offline.
func showAway(p *shell.Page, o overview) {
	var order []string
	tasks := map[string][]string{}
	for _, t := range o.Waiting {
		if who := o.away(t); who != "" {
			if tasks[who] == nil {
				order = append(order, who)
			}
			tasks[who] = append(tasks[who], t.ID)
		}
	}
	for _, who := range order {
		ids, what := tasks[who], "waits until its offer or lease ends"
		if len(ids) > 1 {
			what = "wait until their offers or leases end"
		}
		named := shell.Names(ids[:min(len(ids), maxAway)])
		if more := len(ids) - maxAway; more > 0 {
			named += fmt.Sprintf(" and %d more", more)
		}
		p.Next("%s: %s %s; see when with: %s", who, named, what, shellword.Command("trapeze task show", ids[0]))
	}
}

// maxAgents is the maximum number of agents that the overview shows.
const maxAgents = 20

func showAgents(p *shell.Page, agents []client.Agent) {
	p.Line("Agents")
	list := slices.SortedStableFunc(slices.Values(agents), func(a, b client.Agent) int { return b.Held - a.Held })
	shell.List(p, "  none: trapeze agent add NAME", []string{"NAME", "READINESS", "SEEN", "HOLDS"}, list[:min(len(list), maxAgents)], func(a client.Agent) []string {
		return []string{a.Name, string(a.Readiness), shell.Seen(a), shell.Number(a.Held)}
	})
	if more := len(list) - maxAgents; more > 0 {
		p.Next("and %d more: trapeze agent list", more)
	}
	p.Line("")
}
