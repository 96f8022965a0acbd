package webpage

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"

	"github.com/trapezehq/trapeze/internal/api/webpage/chart"
)

// columnLimit is how many live tasks a column of the board shows.
const columnLimit = 60

// column is the tasks of the board in a state.
type column struct {
	State client.State
	About string // what the tasks in it wait for
	Tasks []client.TaskRow
	Count int // with those that the board does not show
}

// overview is what moves now.
type overview struct {
	Columns []column
	All     int // live tasks
	Agents  []client.Agent
	Tickets []client.Ticket
	More    int // how many more tickets wait
	Alerts  []admin.Alert
	Stats   []admin.Stats
	Charts  []chart.Line
	Series  []admin.StatsBucket
	Begin   *beginning // nil: a task was accepted here before
}

// beginning is which of the commands have run that a first visit shows.
type beginning struct{ Agent, Task, Accepted bool }

func (v *visit) overview(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	o := overview{Columns: []column{
		{State: client.Pending, About: "Nobody owns these. Their requester sends them on."},
		{State: client.HandingOff, About: "Offered. Their sender keeps them until a receiver accepts."},
		{State: client.Executing, About: "An agent owns these and works on them."},
		{State: client.Waiting, About: "For the results of children, or for people."},
		{State: client.Parked, About: "No receiver took these, or a limit was reached. A person decides."},
	}}
	if err := v.fill(ctx, &o); err != nil {
		return err
	}
	agents, err := v.api.Agents(ctx)
	if err != nil {
		return err
	}
	o.Agents = agents.Agents
	slices.SortStableFunc(o.Agents, func(a, b client.Agent) int { return cmp.Compare(b.Held, a.Held) })
	if err := v.waiting(ctx, &o); err != nil {
		return err
	}
	if err := v.figures(ctx, &o); err != nil {
		return err
	}
	if o.All <= 1 && len(o.Agents) <= 1 {
		if err := v.begin(ctx, &o); err != nil {
			return err
		}
	}
	return v.show(w, r, "overview", page{Title: "Overview", Live: everything, About: behind(o.Alerts), Body: o})
}

// soonLimit is how many tickets the overview shows.
const soonLimit = 5

// waiting adds the tickets that are due first.
func (v *visit) waiting(ctx context.Context, o *overview) error {
	got, err := v.api.Tickets(ctx, client.TicketFilter{Mine: true, Order: "due", Counts: true, Limit: soonLimit})
	o.Tickets, o.More = got.Tickets, got.Count-len(got.Tickets)
	return err
}

// fill adds the first live tasks of each state, and how many there are.
func (v *visit) fill(ctx context.Context, o *overview) error {
	live, err := v.api.Tasks(ctx, client.TaskFilter{Live: true, Limit: 1, Counts: true})
	if err != nil {
		return err
	}
	for i := range o.Columns {
		c := &o.Columns[i]
		c.Count = live.Counts[c.State]
		if o.All += c.Count; c.Count == 0 {
			continue
		}
		got, err := v.api.Tasks(ctx, client.TaskFilter{State: c.State, Limit: columnLimit})
		if err != nil {
			return err
		}
		c.Tasks = got.Tasks
		c.Count = max(c.Count, len(c.Tasks)) // some came meanwhile
	}
	return nil
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
			o.Charts, o.Series = chart.Of(s), s.Series
		}
	}
	return nil
}

// early reports whether the server has just started, and still counts its record.
func early(err error) bool { return errors.Is(err, client.Unavailable) }

// hidden reports whether something is not for this person.
func hidden(err error) bool { return errors.Is(err, client.NotPermitted) }
