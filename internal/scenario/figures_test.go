package scenario

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/delivery/monitor"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/figure"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof/taskorder"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	stats "github.com/trapezehq/trapeze/internal/usecase/figures"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// byTheRules checks that a verifier finds nothing in what the rules have written.
func (h *harness) byTheRules() {
	h.Helper()
	found, err := taskorder.Check(context.Background(), h.ledger)
	if err != nil || len(found) > 0 {
		h.Errorf("the rules have written what a verifier says no rule writes: %v, %v", found, err)
	}
}

// countAgain checks, at the end of every story, that a count of the whole ledger agrees with the views, and that the handshake of
// every handoff is in the record.
func (h *harness) countAgain() {
	h.Helper()
	views, at, err := h.views.TaskCounts(context.Background())
	if err != nil || at == 0 {
		return // the story broke the views
	}
	tally := figure.NewTally(figure.Options{})
	enough := errors.New("enough")
	err = h.ledger.Follow(context.Background(), 0, func(entries []ledger.Entry) error {
		for i := range entries {
			if entries[i].Position > at {
				return enough
			}
			if err := tally.Add(entries[i : i+1]); err != nil {
				return err
			}
		}
		if tally.Position() >= at {
			return enough
		}
		return nil
	})
	if errors.Is(err, ledger.ErrUnavailable) {
		return // the story closed the ledger
	}
	if !errors.Is(err, enough) {
		h.Errorf("the ledger cannot be counted: %v", err)
	}
	counted, _ := tally.OpenAt(at)
	for w, c := range counted {
		if v := views[w]; v.Open != c.Tasks || v.Parked != c.Parked {
			h.Errorf("workspace %s at %d: the views have %+v, the ledger %+v", w, at, v, c)
		}
	}
	points, _ := tally.Points()
	for i := range points {
		if p := &points[i]; p.Instrument == figure.AuditCoverage && p.Value != 1 {
			h.Errorf("the record has the handshakes of %g of the handoffs in %s", p.Value, p.Values[0])
		}
	}
}

// mixed makes tasks that end in many ways.
func (h *harness) mixed() {
	h.Helper()
	h.join("lead", "coder", "backup")
	h.register("mute", agents.AgentSpec{ContextWindow: 8000, Breaker: agents.Breaker{Failures: 1}})
	send := func(intent, to string) taskstore.Receipt {
		return h.create(h.agent("lead"), tasks.CreateInput{Intent: intent, Send: &handoffs.SendInput{To: []string{to}, Reason: event.ReasonSpecialization}})
	}
	send("done", "coder")
	time.Sleep(3 * time.Second)
	h.complete("coder", h.accept("coder", h.wait("coder")).Receipt, "done")
	send("handed on", "coder")
	a := h.accept("coder", h.wait("coder"))
	h.send(h.agent("coder"), a.Receipt, handoffs.SendInput{To: []string{"backup"}, Kind: event.Cold, Reason: event.ReasonError})
	time.Sleep(time.Second)
	h.complete("backup", h.accept("backup", h.wait("backup")).Receipt, "done")
	send("seen and never answered", "mute")
	h.wait("mute")
	time.Sleep(4 * time.Hour)
	send("never seen", "backup")
	time.Sleep(4 * time.Hour)
	send("waits", "coder")
}

// figures are the figures of the record, as lines.
func (h *harness) figures() (lines []string) {
	h.Helper()
	m := h.monitor()
	points, err := m.Points(ctx(h))
	if err != nil {
		h.Fatal(err)
	}
	for i := range points {
		p := &points[i]
		if p.Instrument.Origin != figure.Record {
			continue
		}
		line := fmt.Sprint(p.Instrument.Name, p.Values, p.Value)
		if p.Spread != nil {
			line += fmt.Sprint(*p.Spread)
		}
		lines = append(lines, line)
	}
	return lines
}

// monitor returns a monitor that has counted what is in the ledger now. It ends with the test's harness.
func (h *harness) monitor() *monitor.Monitor {
	h.Helper()
	m := monitor.New(h.ledger, h.views.Store(), monitor.Options{Now: h.now})
	running, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		m.Run(running)
		close(done)
	}()
	last, err := h.ledger.Last(ctx(h))
	if err == nil {
		err = m.Wait(ctx(h), last)
	}
	cancel()
	<-done
	if err != nil {
		h.Fatal(err)
	}
	return m
}

// TestStatsSumUpAndNameTheHandoffsBehindThem uses the clock of a bubble: every duration is exact.
func TestStatsSumUpAndNameTheHandoffsBehindThem(t *testing.T) {
	bubble(t, sound(), func(h *harness) {
		h.mixed()
		h.settle()
		app := stats.New(h.monitor(), nil, h.now)
		show := func(in stats.StatsInput) stats.Stats {
			return ok(h, h.operator(), func(c caller.Caller) (stats.Stats, error) { return app.ShowStats(ctx(h), c, in) })
		}
		day := show(stats.StatsInput{Span: figure.Span24h})
		all := day.All
		if all.Ended != 5 || all.Failed != 2 || all.FailureRate != 0.4 || all.Acceptance != (figure.Quantiles{Count: 3, P50: 1, P95: 3, P99: 3, Max: 3}) {
			h.Errorf("all: %+v", all)
		}
		if len(all.Slowest) != 3 || len(all.Failures) != 2 || all.Retries != 1 || !slices.Equal(all.Retried, all.Failures[1:]) || len(all.Incomplete) != 0 {
			h.Errorf("the handoffs behind them: %q, %q, %d retries: %q, %q", all.Slowest, all.Failures, all.Retries, all.Retried, all.Incomplete)
		}
		names := map[string]int{}
		for _, g := range day.Groups {
			names[g.Name] = g.Ended
		}
		if !reflect.DeepEqual(names, map[string]int{"coder": 2, "backup": 2, "mute": 1}) {
			h.Errorf("by agent: %v", names)
		}
		kinds := show(stats.StatsInput{Span: figure.Span24h, By: figure.ByKind}).Groups
		if len(kinds) != 2 || kinds[0].Name != "warm" || kinds[0].Ended != 4 || kinds[1].Name != "cold" || kinds[1].Acceptance.Max != 1 {
			h.Errorf("by kind: %+v", kinds)
		}
		reasons := show(stats.StatsInput{Span: figure.Span24h, By: figure.ByReason}).Groups
		if len(reasons) != 2 || reasons[0].Name != "specialization" || reasons[0].Ended != 4 || reasons[0].Failed != 2 || reasons[0].Acceptance.Count != 2 ||
			reasons[1].Name != "error" || reasons[1].Ended != 1 || reasons[1].Acceptance.P99 != 1 {
			h.Errorf("by reason: %+v", reasons)
		}
		send := tasks.CreateInput{Intent: "now", Send: &handoffs.SendInput{To: []string{"lead"}, Reason: event.ReasonLoadShedding}}
		for _, c := range []struct {
			past                   time.Duration
			minutes, hour, dayLong int
		}{{0, 1, 1, 6}, {6 * time.Minute, 0, 1, 6}, {time.Hour, 0, 0, 6}} {
			if c.past == 0 {
				r := h.create(h.agent("coder"), send)
				h.complete("lead", h.accept("lead", h.of(r.Task, "lead")).Receipt, "done")
				h.settle()
				app = stats.New(h.monitor(), nil, h.now)
			}
			time.Sleep(c.past)
			for span, want := range map[figure.Span]int{figure.Span5m: c.minutes, figure.Span1h: c.hour, figure.Span24h: c.dayLong} {
				if got := show(stats.StatsInput{Span: span, By: figure.ByReason}).All.Ended; got != want {
					h.Errorf("%s later, the last %s: %d, want %d", c.past, span, got, want)
				}
			}
		}
		if now := show(stats.StatsInput{Span: figure.Span5m}); now.All.Ended != 0 || len(now.Groups) != 0 || now.Until.Sub(now.Since) != 5*time.Minute {
			h.Errorf("the last five minutes: %+v", now)
		}
		if _, err := app.ShowStats(ctx(h), h.operator(), stats.StatsInput{Span: "1y"}); refusal.CodeOf(err) != refusal.Invalid {
			h.Errorf("a year: %v", err)
		}
	})
}

// TestEachKindOfHandoffCountsAsItself looks at the statistics and at every figure that has the kind as a label.
func TestEachKindOfHandoffCountsAsItself(t *testing.T) {
	bubble(t, sound(), func(h *harness) {
		h.join("lead", "ann", "bob")
		for _, in := range []handoffs.SendInput{
			{To: []string{"ann"}},
			{To: []string{"ann"}, Kind: event.Cold},
			{To: []string{"ann"}, Kind: event.Delegation},
			{To: []string{"ann", "bob"}, Kind: event.Broadcast},
			{To: []string{"ann", "bob"}, Kind: event.Broadcast, FanOut: true},
		} {
			r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "work", Start: true})
			h.send(h.agent("lead"), r, in)
			h.complete("ann", h.accept("ann", h.wait("ann")).Receipt, "done")
			if in.FanOut {
				h.complete("bob", h.accept("bob", h.wait("bob")).Receipt, "done")
			}
		}
		synctest.Wait() // for the courier, which tells the lead of the results
		h.settle()
		want := map[string]int{"warm": 1, "cold": 1, "delegation": 1, "broadcast": 3} // a claim, and the two copies of a fan-out
		m, got := h.monitor(), map[string]int{}
		points, err := m.Points(ctx(h)) // first: to read the statistics is an entry, which m does not count
		if err != nil {
			h.Fatal(err)
		}
		all := ok(h, h.operator(), func(c caller.Caller) (stats.Stats, error) {
			return stats.New(m, nil, h.now).ShowStats(ctx(h), c, stats.StatsInput{Span: figure.Span24h, By: figure.ByKind})
		})
		for _, g := range all.Groups {
			got[g.Name] = g.Acceptance.Count
		}
		if !reflect.DeepEqual(got, want) {
			h.Errorf("statistics: %v, want %v", got, want)
		}
		counted := map[*figure.Instrument]map[string]int{}
		for i := range points {
			p := &points[i]
			at := slices.Index(p.Instrument.Labels, "kind")
			if at < 0 || p.Instrument.Origin != figure.Record || p.Instrument == figure.TicketsOpened {
				continue
			}
			if counted[p.Instrument] == nil {
				counted[p.Instrument] = map[string]int{}
			}
			n := int(p.Value)
			if p.Spread != nil {
				n = int(p.Spread.Count) //nolint:gosec // few
			}
			counted[p.Instrument][p.Values[at]] += n
		}
		for i, of := range counted {
			if !reflect.DeepEqual(of, want) {
				h.Errorf("%s: %v, want %v", i.Name, of, want)
			}
		}
		if len(counted) < 6 {
			h.Errorf("%d instruments have kinds", len(counted))
		}
	})
}
