package audit

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Stats is the command trapeze stats.
func Stats(s *shell.Shell) *cobra.Command {
	var o admin.StatsOptions
	var only string
	cmd := s.Call("stats", "Show how handoffs went: how long they took, how many failed, and which", shell.NoArgs,
		func(ctx context.Context, c *client.Client, _ []string) error {
			stats, err := admin.New(c).Stats(ctx, o)
			if err == nil && only != "" {
				stats.Groups = slices.DeleteFunc(stats.Groups, func(g admin.StatsGroup) bool { return orNone(g.Name) != only })
			}
			return s.Answer(stats, err, func(p *shell.Page) { showStats(p, stats, only) })
		})
	cmd.Long = `Sum up the handoffs that ended in the last 5 minutes, hour or day: how many failed, and the time from the request until a
receiver had seen the offer, and until it had accepted: half of them, 95 % and 99 % took no longer. LOST are those whose receiver then failed
the task, or lost it by its silence or for lack of progress; HOPS the most that a task had made. BUDGET is the average share of their
token budgets that packed envelopes use, COMPLETE the average share of their references that could be resolved. trapeze handoff show
tells more of those that are named: of all or, with --only, of one agent, kind or reason. The figures are for operators and auditors; docs/metrics.md lists those for Prometheus.`
	shell.Choice(cmd.Flags(), &o.Span, "span", "", "handoffs that ended in the last %s (default 1h)", admin.StatsSpans())
	shell.Choice(cmd.Flags(), &o.By, "by", "", "group them by %s (default agent)", admin.StatsBys())
	cmd.Flags().StringVar(&only, "only", "", "show only this agent, kind or reason, and the handoffs behind its figures")
	return shell.Example(cmd, "trapeze stats --span 24h --by kind")
}

func showStats(p *shell.Page, stats admin.Stats, only string) {
	p.Line("%s ended since %s", handoffCount(stats.All.Ended), shell.Clock(stats.Since))
	if stats.All.Ended == 0 {
		return
	}
	p.Line("")
	rows, of := [][]string{statsRow("all", stats.All)}, stats.All
	for _, g := range stats.Groups {
		rows = append(rows, statsRow(shell.OneLine(orNone(g.Name)), g))
	}
	if only != "" {
		if rows = rows[1:]; len(rows) == 0 {
			p.Line("none of them with the %s %s", stats.By, shell.OneLine(only))
			return
		}
		of = stats.Groups[0]
	}
	p.Table("", []string{strings.ToUpper(stats.By), "ENDED", "FAILED", "LOST", "RETRIES", "SEEN p50", "p95", "p99", "ACCEPTED p50", "p95", "p99", "HOPS", "TOKENS", "BUDGET", "COMPLETE"}, rows)
	for _, named := range []struct {
		what string
		ids  []string
	}{
		{"slowest", of.Slowest}, {"failed", of.Failures}, {"lost", of.Losses}, {"retried", of.Retried}, {"most hops", of.Farthest}, {"most tokens", of.Largest}, {"incomplete", of.Incomplete},
	} {
		if len(named.ids) > 0 {
			p.Line("")
			p.Line("%s: %s", named.what, shell.OneLine(shell.Names(named.ids)))
		}
	}
}

func handoffCount(n int) string {
	if n == 1 {
		return "1 handoff"
	}
	return strconv.Itoa(n) + " handoffs"
}

// orNone names the group of handoffs that reached no agent.
func orNone(name string) string {
	if name == "" {
		return "(no agent reached)"
	}
	return name
}

func statsRow(name string, g admin.StatsGroup) []string {
	row := []string{name, strconv.Itoa(g.Ended), fmt.Sprintf("%d (%s)", g.Failed, percent(g.FailureRate)), strconv.Itoa(g.Lost), strconv.Itoa(g.Retries)}
	for _, q := range []admin.Quantiles{g.Delivery, g.Acceptance} {
		for _, v := range []float64{q.P50, q.P95, q.P99} {
			row = append(row, took(q.Count, v))
		}
	}
	row = append(row, strconv.Itoa(g.MostHops))
	if g.Packed == 0 {
		return append(row, "-", "-", "-")
	}
	used := "-"
	if g.Budgeted > 0 {
		used = percent(g.Utilisation)
	}
	return append(row, strconv.FormatFloat(g.Tokens, 'f', 0, 64), used, percent(g.Completeness))
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + "%" }

// took shows a time in seconds with about three digits.
func took(count int, seconds float64) string {
	if count == 0 {
		return "-"
	}
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s"
	}
	return client.Duration(d.Round(time.Second)).String()
}
