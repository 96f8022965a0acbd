package monitor

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/record/figure"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// What is compared with the ledger when alerts are judged: the rows in the views of some open tasks, others each time, some rows of
// any task, agent, channel or token, all in turn, and those of streams whose rows were not right when they were compared last, until they are.
const (
	compared   = 10
	swept      = 20
	recompared = 100

	comparing = 15 * time.Second // between two comparisons while all agrees: while much happens, alerts are judged more often
)

// disagree is the streams whose rows in the views were not right when they were compared last.
type disagree struct {
	sync.Mutex
	at      time.Time // of the last comparison; zero: nothing was compared
	streams []ledger.Stream
}

// consistency adds how far the views agree with the ledger.
func (m *Monitor) consistency(ctx context.Context, set *figure.Set) error {
	shares, err := m.shares(ctx, false) // a scrape has to be cheap
	for workspace, share := range shares {
		set.Add(figure.ViewConsistency, share, workspace)
	}
	return err
}

// shares compares the views with the ledger, by workspace; nil if that is not possible now. It compares the numbers of tasks at the same
// position, and some rows: again if it is asked to and that was some time ago, or else as they were compared last.
func (m *Monitor) shares(ctx context.Context, again bool) (map[string]float64, error) {
	views, at, err := m.views.TaskCounts(ctx)
	if err != nil {
		return nil, err
	}
	wait, cancel := context.WithTimeout(ctx, catchUp)
	defer cancel()
	if err := m.Wait(wait, at); err != nil {
		return nil, err
	}
	counted, ok := m.tally.OpenAt(at)
	if !ok {
		return nil, nil // the views are far behind: the lag says so
	}
	wrong, err := m.wrong(ctx, again)
	if err != nil {
		return nil, err
	}
	return agreement(views, counted, wrong), nil
}

// wrong counts tasks, agents, channels and tokens whose rows in the views are not those that the ledger has, by workspace.
func (m *Monitor) wrong(ctx context.Context, again bool) (map[string]int, error) {
	d := &m.disagree
	d.Lock()
	defer d.Unlock()
	if d.at.IsZero() || again && (len(d.streams) > 0 || m.o.Now().Sub(d.at).Abs() >= comparing) {
		if err := m.compare(ctx); err != nil {
			return nil, err
		}
	}
	counts := map[string]int{}
	for _, s := range d.streams {
		workspace, _, _ := s.Parts()
		counts[workspace]++
	}
	return counts, nil
}

// compare compares some rows of the views with the ledger.
func (m *Monitor) compare(ctx context.Context) error {
	d := &m.disagree
	streams := slices.Clone(d.streams[:min(len(d.streams), recompared)])
	for _, s := range m.tally.Sample(compared) {
		if !slices.Contains(streams, s) && len(streams) < recompared {
			streams = append(streams, s)
		}
	}
	streams, err := m.views.Disagreeing(ctx, streams, swept)
	if err == nil {
		d.at, d.streams = m.o.Now(), streams
	}
	return err
}

// agreement returns, for each workspace, how much of the greatest count all have, or the share of open tasks whose rows are not known to be
// wrong, if that is less.
func agreement(views map[string]view.TaskCount, counted map[string]figure.Open, wrong map[string]int) map[string]float64 {
	shares := map[string]float64{}
	for workspace := range counted {
		shares[workspace] = 1
	}
	for workspace := range views {
		shares[workspace] = 1
	}
	for workspace := range shares {
		v, c, n := views[workspace], counted[workspace], wrong[workspace]
		all := min(v.Open, v.Requested, c.Tasks) + min(v.Parked, c.Parked)
		if most := max(v.Open, v.Requested, c.Tasks) + max(v.Parked, c.Parked); most > 0 {
			shares[workspace] = float64(max(all, 0)) / float64(most)
		}
		if n > 0 {
			shares[workspace] = min(shares[workspace], 1-float64(n)/float64(max(c.Tasks, n)))
		}
	}
	return shares
}
