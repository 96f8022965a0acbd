package monitor

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/record/figure"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// catchUp is how long a reader of the figures waits for entries that the views have and the figures have not.
const catchUp = time.Second

// Points returns all figures, by instrument and labels. Figures of the views that cannot be read are left out, and the error says why.
func (m *Monitor) Points(ctx context.Context) ([]figure.Point, error) {
	set := figure.NewSet()
	if m.o.Process != nil {
		m.o.Process(set)
	}
	set.Add(figure.RecordIntegrity, holds(m.o.Integrity))
	set.Add(figure.RecordWitnessed, holds(m.o.Witnessed))
	set.Add(figure.CertificateCurrent, holds(m.o.Certified))
	at := m.tally.Position()
	last, err := m.ledger.Last(ctx)
	set.Add(figure.FigureLag, float64(max(last, at)-at))
	viewed := m.views.Position()
	set.Add(figure.ViewLag, float64(max(last, viewed)-viewed))
	var list []figure.Point
	if m.Ready() {
		list, _ = m.tally.Points()
		m.tally.Excess(set, m.o.Now())
		err = errors.Join(err, m.inboxes(ctx, set), m.tickets(ctx, set), m.agents(ctx, set), m.consistency(ctx, set))
	}
	list, missed := m.present(ctx, figure.Merge(list, set.Points()))
	return list, errors.Join(err, missed)
}

// holds is 1 while nothing was found, else 0.
func holds(found func() error) float64 {
	if found != nil && found() != nil {
		return 0
	}
	return 1
}

const (
	manyItems   = 2000             // items of all inboxes from which on
	recountItem = 10 * time.Second // their counts are used for so long: reading all items takes a while
)

// boxes are the inboxes as they were last counted.
type boxes struct {
	sync.Mutex
	counts []view.InboxCount
	items  int
	at     time.Time
}

// inboxCounts lists the inboxes that have items. It is not to be changed.
func (m *Monitor) inboxCounts(ctx context.Context) ([]view.InboxCount, error) {
	b := &m.boxes
	b.Lock()
	defer b.Unlock()
	now := m.o.Now()
	if age := now.Sub(b.at); b.items >= manyItems && age >= 0 && age < recountItem {
		return b.counts, nil
	}
	counts, err := m.views.InboxCounts(ctx)
	if err != nil {
		return nil, err
	}
	if err := m.withoutReaders(ctx, counts); err != nil {
		return nil, err
	}
	b.counts, b.items, b.at = counts, 0, now
	for i := range counts {
		b.items += counts[i].Items
	}
	return counts, nil
}

// withoutReaders clears the ages of the inboxes of agents that were removed: nobody can read them, and nobody waits.
func (m *Monitor) withoutReaders(ctx context.Context, counts []view.InboxCount) error {
	read := map[[2]string]bool{}
	for i := range counts {
		c := &counts[i]
		if c.Agent == "" || strings.Contains(c.Agent, "/") { // of people
			continue
		}
		if of := [2]string{c.Workspace, ""}; !read[of] {
			read[of] = true
			all, err := m.agentsOf(ctx, c.Workspace)
			if err != nil {
				return err
			}
			for i := range all {
				read[[2]string{c.Workspace, all[i].Name}] = true
			}
		}
		if !read[[2]string{c.Workspace, c.Agent}] {
			c.Oldest = time.Time{}
		}
	}
	return nil
}

func (m *Monitor) inboxes(ctx context.Context, set *figure.Set) error {
	counts, err := m.inboxCounts(ctx)
	now := m.o.Now()
	for _, c := range counts {
		workspace, agent := m.tally.Workspace(c.Workspace), m.tally.Agent(c.Workspace, c.Agent)
		set.Add(figure.InboxItems, float64(c.Items), workspace, agent)
		if !c.Oldest.IsZero() {
			set.Raise(figure.InboxAge, max(now.Sub(c.Oldest).Seconds(), 0), workspace, agent)
		}
	}
	return err
}

// ages are the values of the label age, by their greatest age.
var ages = []struct {
	most time.Duration
	name string
}{{time.Hour, "1h"}, {8 * time.Hour, "8h"}, {24 * time.Hour, "24h"}}

func ageOf(d time.Duration) string {
	for _, a := range ages {
		if d <= a.most {
			return a.name
		}
	}
	return "older"
}

// recount is how long the counts of a workspace with more than a page of open tickets are used: reading them all takes a while.
const recount = time.Minute

// waiting are the open tickets of each workspace as they were last counted.
type waiting struct {
	sync.Mutex
	of map[string]openTickets
}

// openTickets are numbers of open tickets, by kind and age.
type openTickets struct {
	by   map[[2]string]float64
	many bool // more than a page
	at   time.Time
}

func (m *Monitor) tickets(ctx context.Context, set *figure.Set) error {
	workspaces, err := m.views.Workspaces(ctx)
	if err != nil {
		return err
	}
	m.waiting.Lock()
	defer m.waiting.Unlock()
	now, counts := m.o.Now(), map[string]openTickets{}
	for _, w := range workspaces {
		c := m.waiting.of[w]
		if age := now.Sub(c.at); !c.many || age < 0 || age >= recount {
			if c, err = m.countTickets(ctx, w, now); err != nil {
				return err
			}
		}
		counts[w] = c
		for k, n := range c.by {
			set.Add(figure.TicketsOpen, n, m.tally.Workspace(w), k[0], k[1])
		}
	}
	m.waiting.of = counts
	return nil
}

func (m *Monitor) countTickets(ctx context.Context, workspace string, now time.Time) (openTickets, error) {
	c := openTickets{by: map[[2]string]float64{}, at: now}
	f := view.TicketFilter{Live: true, Limit: view.MaxPage}
	for {
		list, err := m.views.Tickets(ctx, workspace, f)
		if err != nil {
			return c, err
		}
		for i := range list {
			c.by[[2]string{string(list[i].Kind), ageOf(now.Sub(list[i].Opened))}]++
		}
		if len(list) < f.Limit {
			return c, nil
		}
		c.many, f.After = true, f.After.Next(&list[len(list)-1], f.Order)
	}
}

// loads are the agents of each workspace as they were last read: they are read again only if they have changed.
type loads struct {
	sync.Mutex
	of map[string]*view.AgentLoads
}

func (m *Monitor) agentsOf(ctx context.Context, workspace string) ([]agent.State, error) {
	m.loads.Lock()
	defer m.loads.Unlock()
	now, err := m.views.AgentLoads(ctx, workspace, m.loads.of[workspace])
	if err != nil {
		return nil, err
	}
	if m.loads.of == nil {
		m.loads.of = map[string]*view.AgentLoads{}
	}
	m.loads.of[workspace] = now
	return now.Agents, nil
}

func (m *Monitor) agents(ctx context.Context, set *figure.Set) error {
	workspaces, err := m.views.Workspaces(ctx)
	if err != nil {
		return err
	}
	now := m.o.Now()
	for _, w := range workspaces {
		label := m.tally.Workspace(w)
		for _, phase := range agent.Phases() { // also those that no circuit is in: their alerts must end
			set.Add(figure.Circuits, 0, label, agent.ScopeShared, string(phase))
			set.Add(figure.Circuits, 0, label, agent.ScopeSender, string(phase))
		}
		all, err := m.agentsOf(ctx, w)
		if err != nil {
			return err
		}
		for i := range all {
			set.Add(figure.Circuits, 1, label, agent.ScopeShared, string(all[i].Circuit.PhaseAt(now)))
			for _, p := range all[i].SenderCircuits {
				set.Add(figure.Circuits, 1, label, agent.ScopeSender, string(p.Circuit.PhaseAt(now)))
			}
			failed := max(float64(failures(&all[i])), m.tally.Missed(w, all[i].Name, 0, now).Value)
			set.Raise(figure.AgentFailures, failed, label, m.tally.Agent(w, all[i].Name))
			set.Add(figure.Agents, 1, label, string(all[i].Readiness()))
		}
	}
	return nil
}

// failures returns the failures in a row of an agent, of the sender with most; of a circuit on trial those with which it was open.
func failures(s *agent.State) int {
	n := max(s.Circuit.Failures, s.Circuit.OnTrial)
	for i := range s.SenderCircuits {
		n = max(n, s.SenderCircuits[i].Circuit.Failures, s.SenderCircuits[i].Circuit.OnTrial)
	}
	return n
}

// At is the position up to which the figures of the record count.
func (m *Monitor) At() ledger.Position { return m.tally.Position() }
