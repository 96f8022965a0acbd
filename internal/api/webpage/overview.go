package webpage

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
)

// boardLimit is how many live tasks the board shows.
const boardLimit = 300

// column is the tasks of the board in some states.
type column struct {
	Name  string
	About string // what the tasks in it wait for
	Tasks []client.TaskRow
}

// overview is what moves now.
type overview struct {
	Columns []column
	Shown   int
	More    bool // there are more live tasks than the board shows
	Agents  []client.Agent
	Tickets []client.Ticket
	Alerts  []admin.Alert
	Stats   []admin.Stats
	Charts  []chart
	Series  []admin.StatsBucket
	Begin   *beginning // nil: a task was accepted here before
}

// beginning is which of the commands have run that a first visit shows.
type beginning struct{ Agent, Task, Accepted bool }

// columnOf returns the number of the column that shows a state.
var columnOf = map[client.State]int{client.Pending: 0, client.HandingOff: 1, client.Executing: 2, client.Waiting: 3, client.Parked: 4}

func (v *visit) overview(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	o := overview{Columns: []column{
		{Name: "Waiting to be sent", About: "Nobody owns these. Their requester sends them on."},
		{Name: "Being handed off", About: "Offered. Their sender keeps them until a receiver accepts."},
		{Name: "At work", About: "An agent owns these and works on them."},
		{Name: "Waiting for others", About: "For the results of children, or for people."},
		{Name: "Dead letters", About: "No receiver took these, or a limit was reached. A person decides."},
	}}
	live, err := v.api.Tasks(ctx, client.TaskFilter{Live: true, Limit: boardLimit})
	if err != nil {
		return err
	}
	o.Shown, o.More = len(live.Tasks), live.Next != ""
	for _, t := range live.Tasks {
		c := &o.Columns[columnOf[t.State]]
		c.Tasks = append(c.Tasks, t)
	}
	agents, err := v.api.Agents(ctx)
	if err != nil {
		return err
	}
	o.Agents = agents.Agents
	slices.SortStableFunc(o.Agents, func(a, b client.Agent) int { return cmp.Compare(b.Held, a.Held) })
	tickets, err := v.api.Tickets(ctx, client.TicketFilter{State: "open", Limit: 5})
	if err != nil {
		return err
	}
	o.Tickets = tickets.Tickets
	if err := v.figures(ctx, &o); err != nil {
		return err
	}
	if o.Shown <= 1 && len(o.Agents) <= 1 {
		if err := v.begin(ctx, &o); err != nil {
			return err
		}
	}
	return v.show(w, r, "overview", page{Title: "Overview", Live: "*", Body: o})
}

// begin adds how to begin, until the first task was accepted.
func (v *visit) begin(ctx context.Context, o *overview) error {
	all, err := v.api.Tasks(ctx, client.TaskFilter{Limit: 2})
	if err != nil {
		return err
	}
	b := beginning{Agent: len(o.Agents) > 0, Task: len(all.Tasks) > 0, Accepted: len(all.Tasks) > 1}
	for _, t := range all.Tasks {
		b.Accepted = b.Accepted || t.Hops > 0 || t.Owner != ""
	}
	if !b.Accepted {
		o.Begin = &b
	}
	return nil
}

// figures adds alerts and figures, if the person may see them.
func (v *visit) figures(ctx context.Context, o *overview) error {
	if !v.oversees() {
		return nil
	}
	alerts, err := v.admin.Alerts(ctx, admin.AlertOptions{})
	if err != nil {
		return err
	}
	o.Alerts = alerts.Alerts
	for _, span := range admin.StatsSpans() {
		s, err := v.admin.Stats(ctx, admin.StatsOptions{Span: span})
		if early(err) {
			return nil
		} else if err != nil {
			return err
		}
		o.Stats = append(o.Stats, s)
		if span == "1h" && s.All.Ended > 0 {
			o.Charts, o.Series = chartsOf(s), s.Series
		}
	}
	return nil
}

// early reports whether the server has just started, and still counts its record.
func early(err error) bool { return errors.Is(err, client.Unavailable) }

// hidden reports whether something is not for this person.
func hidden(err error) bool { return errors.Is(err, client.NotPermitted) }
