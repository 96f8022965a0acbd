package monitor

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/figure"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// Measurement is what alerts are about, of all workspaces at one time. It is for one goroutine.
type Measurement struct {
	m        *Monitor
	now      time.Time
	ready    bool
	server   map[string]float64 // of the whole server, by instrument
	inboxes  map[string][]view.InboxCount
	agreeing map[string]float64 // nil: it could not be measured
	archived map[string]bool    // workspaces
}

// Measure measures what alerts are about. Before the figures of the record are complete, only what is of the whole server can be measured. What else cannot
// be measured now is left out, and the error says why.
func (m *Monitor) Measure(ctx context.Context) (*Measurement, error) {
	x := &Measurement{m: m, now: m.o.Now(), ready: m.Ready(), server: map[string]float64{}}
	at, viewed := m.tally.Position(), m.views.Position()
	last, err := m.ledger.Last(ctx)
	if err != nil {
		return x, err
	}
	x.server[figure.FigureLag.Name], x.server[figure.ViewLag.Name] = float64(max(last, at)-at), float64(max(last, viewed)-viewed)
	x.server[figure.RecordIntegrity.Name], x.server[figure.RecordWitnessed.Name] = holds(m.o.Integrity), holds(m.o.Witnessed)
	x.server[figure.CertificateCurrent.Name] = holds(m.o.Certified)
	if x.archived, err = m.archived(ctx); err != nil || !x.ready {
		return x, err
	}
	counts, err := m.inboxCounts(ctx)
	if err == nil {
		x.inboxes = map[string][]view.InboxCount{}
		for _, c := range counts {
			x.inboxes[c.Workspace] = append(x.inboxes[c.Workspace], c)
		}
	}
	shares, missed := m.shares(ctx, true)
	x.agreeing = shares
	return x, errors.Join(err, missed)
}

// Archived reports whether a workspace is archived.
func (x *Measurement) Archived(workspace string) bool { return x.archived[workspace] }

// Conditions returns the conditions of a workspace that hold, by definitions, and those of the definitions that could be measured. first
// is set for the workspace that has the alerts of the whole server.
func (x *Measurement) Conditions(ctx context.Context, workspace string, first bool, definitions []alert.Definition) (conditions []alert.Condition, measured []alert.Definition, err error) {
	var ofRecord []alert.Definition
	for _, d := range definitions {
		if figure.Measures(&d) {
			ofRecord = append(ofRecord, d)
			continue
		}
		list, ok, failed := x.one(ctx, workspace, first, d)
		err = errors.Join(err, failed)
		if !ok || failed != nil {
			continue
		}
		for i := range list {
			list[i].Name, list[i].Holds = d.Name, true
		}
		conditions, measured = append(conditions, list...), append(measured, d)
	}
	if x.ready {
		conditions, measured = append(conditions, x.m.tally.Conditions(workspace, ofRecord, x.now)...), append(measured, ofRecord...)
	}
	return conditions, measured, err
}

// one measures one definition; ok is false if that is not possible now.
func (x *Measurement) one(ctx context.Context, workspace string, first bool, d alert.Definition) (list []alert.Condition, ok bool, err error) {
	if d.Subject == alert.Server {
		if !first {
			return nil, true, nil
		}
		return x.m.lasting.since(workspace, &d, x.server[d.Figure], x.now), true, nil
	}
	if !x.ready || x.yields(&d) {
		return nil, false, nil
	}
	switch d.Figure {
	case figure.AgentFailures.Name, figure.Circuits.Name:
		list, err = x.agents(ctx, workspace, &d)
	case figure.InboxAge.Name:
		if ok = x.inboxes != nil; ok {
			list, err = x.inbox(ctx, workspace, &d)
		}
		return list, ok, err
	case figure.TicketsOpen.Name:
		list, err = x.tickets(ctx, workspace, &d)
	case figure.ViewConsistency.Name:
		share, there := x.agreeing[workspace]
		if !there {
			return nil, x.agreeing != nil, nil
		}
		list = x.m.lasting.since(workspace, &d, share, x.now)
	}
	return list, true, err
}

// yields reports whether the alert holds that explains one of a definition.
func (x *Measurement) yields(d *alert.Definition) bool {
	to, ok := alert.Find(d.Yields)
	return ok && to.Compare.Holds(x.server[to.Figure], to.Threshold)
}

// agents measures each agent.
func (x *Measurement) agents(ctx context.Context, workspace string, d *alert.Definition) (list []alert.Condition, err error) {
	all, err := x.m.agentsOf(ctx, workspace)
	if err != nil {
		return nil, err
	}
	for i := range all {
		s := &all[i]
		c := alert.Condition{Key: alert.Key{Agent: s.Name}, Value: float64(failures(s))}
		c.Causes = causes(s)
		c.Senders = c.Causes // an agent may see offers that nobody could answer in their time
		var senders []string // nil: all
		if d.Figure == figure.Circuits.Name {
			var open int
			open, senders, c.Since = openCircuits(s, x.now)
			c.Value = float64(open)
		}
		if d.Figure == figure.AgentFailures.Name {
			if missed := x.m.tally.Missed(workspace, s.Name, int(d.Threshold), x.now); missed.Value > c.Value && d.Compare.Holds(missed.Value, d.Threshold) {
				missed.Key = c.Key
				list = append(list, missed)
				continue
			}
		}
		if !d.Compare.Holds(c.Value, d.Threshold) {
			continue
		}
		var since time.Time
		if c.Handoffs, since = x.m.tally.FailuresOf(workspace, s.Name, int(d.Threshold), senders...); c.Since.IsZero() {
			c.Since = since
		}
		if c.Since.IsZero() {
			c.Since = x.now
		}
		list = append(list, c)
	}
	return list, nil
}

// causes are the senders whose handoffs failed at an agent, and count.
func causes(s *agent.State) (list []string) {
	for _, sender := range s.Circuit.Openers {
		list = cause(list, sender)
	}
	for i := range s.SenderCircuits {
		list = cause(list, s.SenderCircuits[i].Sender)
	}
	return list
}

// openCircuits counts the circuits of an agent that are not closed, or on trial, since the first of them opened: the one of all senders, and those of single senders.
// If it is only those, it names the senders.
func openCircuits(s *agent.State, now time.Time) (n int, senders []string, since time.Time) {
	opened := func(c *agent.Circuit) {
		if n++; n == 1 || c.OpenedAt.Before(since) {
			since = c.OpenedAt
		}
	}
	for i := range s.SenderCircuits {
		if p := &s.SenderCircuits[i]; p.Circuit.PhaseAt(now) != agent.Closed {
			opened(&p.Circuit)
			senders = append(senders, p.Sender)
		}
	}
	if s.Circuit.PhaseAt(now) != agent.Closed {
		opened(&s.Circuit)
		senders = nil
	}
	return n, senders, since
}

// inbox measures how long the inboxes wait.
func (x *Measurement) inbox(ctx context.Context, workspace string, d *alert.Definition) (list []alert.Condition, err error) {
	for _, c := range x.inboxes[workspace] {
		age := x.now.Sub(c.Oldest).Seconds()
		if c.Oldest.IsZero() || !d.Compare.Holds(age, d.Threshold) {
			continue
		}
		one := alert.Condition{Key: alert.Key{Agent: c.Agent}, Value: age, Since: c.Oldest.Add(time.Duration(d.Threshold * float64(time.Second)))}
		one.Causes = cause(nil, c.From)
		if len(list) < maxRead {
			if err := x.behindInbox(ctx, workspace, d, &one); err != nil {
				return nil, err
			}
		}
		list = append(list, one)
	}
	return list, nil
}

const (
	maxRead   = 200 // inboxes whose items a measurement reads; of more, it knows whom the oldest item is from
	itemsRead = 20  // of an inbox: senders take turns in it
)

// behindInbox adds to the condition of an inbox what is behind it, and whom what waits for too long is from.
func (x *Measurement) behindInbox(ctx context.Context, workspace string, d *alert.Definition, one *alert.Condition) error {
	box, err := x.m.views.Inbox(ctx, workspace, one.Agent, view.InboxFilter{Limit: itemsRead})
	if err != nil {
		return err
	}
	for i := range box.Items {
		item := &box.Items[i]
		if item.Type.Notice() || item.Type == view.ItemShare && !x.m.tally.Live(ledger.StreamOf(workspace, ledger.TaskKind, item.Task)) {
			continue
		}
		if d.Compare.Holds(x.now.Sub(item.Since).Seconds(), d.Threshold) {
			one.Causes = cause(one.Causes, item.From)
		}
		if item.Type == view.ItemOffer {
			x.name(one, item.ID)
		} else {
			x.name(one, x.lastOf(workspace, item.Task))
		}
	}
	return nil
}

// cause adds who caused a condition, unless that is known.
func cause(list []string, who string) []string {
	if who = strings.TrimPrefix(who, "agent/"); who == "" || slices.Contains(list, who) {
		return list
	}
	return append(list, who)
}

// name adds a handoff to those that are behind a condition, unless it is there, or there are enough; "" is none.
func (x *Measurement) name(c *alert.Condition, handoff string) {
	if handoff != "" && len(c.Handoffs) < alert.MaxHandoffs && !slices.Contains(c.Handoffs, handoff) {
		c.Handoffs = append(c.Handoffs, handoff)
	}
}

// lastOf is the newest handoff of a task that has not ended.
func (x *Measurement) lastOf(workspace, task string) string {
	return x.m.tally.LastHandoff(ledger.StreamOf(workspace, ledger.TaskKind, task))
}

// disorder is how much younger than the next a ticket may be in a list with the oldest first: clocks go back.
const disorder = time.Hour

// tickets measures how many tickets have waited for more than [alert.TicketAge].
func (x *Measurement) tickets(ctx context.Context, workspace string, d *alert.Definition) ([]alert.Condition, error) {
	c := alert.Condition{}
	f := view.TicketFilter{Live: true, Limit: view.MaxPage}
pages:
	for {
		list, err := x.m.views.Tickets(ctx, workspace, f)
		if err != nil {
			return nil, err
		}
		for i := range list {
			k := &list[i]
			age := x.now.Sub(k.Opened)
			if age <= alert.TicketAge-disorder {
				break pages // the oldest come first
			}
			if age <= alert.TicketAge {
				continue
			}
			c.Value++
			if over := k.Opened.Add(alert.TicketAge); c.Since.IsZero() || over.Before(c.Since) {
				c.Since = over
			}
			if len(c.Tickets) < alert.MaxHandoffs {
				c.Tickets = append(c.Tickets, k.ID)
			}
			if k.Handoff > 0 {
				x.name(&c, event.HandoffID(k.Task, k.Handoff))
			} else { // a question: the handoff that gave the task to the agent that asks
				x.name(&c, x.lastOf(workspace, k.Task))
			}
		}
		if len(list) < f.Limit {
			break
		}
		f.After = f.After.Next(&list[len(list)-1], f.Order)
	}
	if !d.Compare.Holds(c.Value, d.Threshold) {
		return nil, nil
	}
	return []alert.Condition{c}, nil
}

// lasting notes since when conditions hold that are not in the record. After a restart they begin again.
type lasting struct {
	sync.Mutex
	from map[[2]string]time.Time // by workspace and alert
}

// since returns the condition of a value if it has held long enough.
func (l *lasting) since(workspace string, d *alert.Definition, value float64, now time.Time) []alert.Condition {
	l.Lock()
	defer l.Unlock()
	k := [2]string{workspace, d.Name}
	if !d.Compare.Holds(value, d.Threshold) {
		delete(l.from, k)
		return nil
	}
	if l.from == nil {
		l.from = map[[2]string]time.Time{}
	}
	from, there := l.from[k]
	if !there {
		from, l.from[k] = now, now
	}
	if now.Sub(from) < d.For {
		return nil
	}
	return []alert.Condition{{Value: value, Since: from}}
}
