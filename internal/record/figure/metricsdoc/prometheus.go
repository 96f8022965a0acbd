package main

import (
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/record/figure"
)

// rules are the alerts as a file of Prometheus. A text in quotes of JSON is one of YAML, too.
func rules() string {
	var b strings.Builder
	b.WriteString("# Written by go generate ./internal/record/figure. Do not edit.\ngroups:\n  - name: trapeze\n    rules:\n")
	for _, a := range figure.Alerts() {
		fmt.Fprintf(&b, "      - alert: %s\n        expr: %s\n", a.Prometheus(), quoted(a.Expr))
		if a.For > 0 {
			fmt.Fprintf(&b, "        for: %.0fm\n", a.For.Minutes())
		}
		fmt.Fprintf(&b, "        labels:\n          severity: %s\n        annotations:\n          summary: %s\n          description: %s\n", a.Severity, quoted(a.Meaning()), quoted(a.Do()))
	}
	return b.String()
}

func quoted(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		log.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

// panel is one graph of the dashboard.
type panel struct {
	title string
	unit  string
	exprs map[string]string // by legend
}

// behind says by which commands people find what is behind the figures of a panel.
func (p *panel) behind() string {
	var commands []string
	for _, legend := range slices.Sorted(maps.Keys(p.exprs)) {
		for _, i := range figure.Instruments() {
			if named := regexp.MustCompile(`\b` + i.Prometheus() + `(_bucket|_sum|_count)?\b`); i.Behind != "" && named.MatchString(p.exprs[legend]) && !slices.Contains(commands, i.Behind) {
				commands = append(commands, i.Behind)
			}
		}
	}
	if len(commands) == 0 {
		return ""
	}
	return "What is behind it: `" + strings.Join(commands, "`, `") + "`."
}

// panels are the graphs, in the order of reading: is work arriving, where does it wait, who drops it, what is lost.
func panels() []panel {
	rate := func(i *figure.Instrument, by string) string {
		return fmt.Sprintf("sum by (%s) (rate(%s{workspace=~\"$workspace\"}[$__rate_interval]))", by, i.Prometheus())
	}
	quantile := func(i *figure.Instrument, q float64, by string) string {
		return fmt.Sprintf("histogram_quantile(%g, sum by (%s) (rate(%s_bucket{workspace=~\"$workspace\"}[$__rate_interval])))", q, strings.Trim("le, "+by, ", "), i.Prometheus())
	}
	mean := func(i *figure.Instrument) string {
		return fmt.Sprintf("sum(rate(%[1]s_sum{workspace=~\"$workspace\"}[1h])) / sum(rate(%[1]s_count{workspace=~\"$workspace\"}[1h]))", i.Prometheus())
	}
	now := func(i *figure.Instrument, by string) string {
		return fmt.Sprintf("sum by (%s) (%s{workspace=~\"$workspace\"})", by, i.Prometheus())
	}
	return []panel{
		{"Handoffs requested", "ops", map[string]string{"{{kind}}": rate(figure.HandoffsRequested, "kind")}},
		{"Handoffs ended", "ops", map[string]string{"{{outcome}}": rate(figure.HandoffsEnded, "outcome")}},
		{"Failed handoffs, share of the last hour", "percentunit", map[string]string{"failed": fmt.Sprintf(
			"sum(increase(%s{workspace=~\"$workspace\"}[1h])) / sum(increase(%s{workspace=~\"$workspace\"}[1h]))", figure.HandoffsFailed.Prometheus(), figure.HandoffsEnded.Prometheus())}},
		{"Time until seen", "s", map[string]string{"p50": quantile(figure.HandoffDelivery, 0.5, ""), "p95": quantile(figure.HandoffDelivery, 0.95, ""), "p99": quantile(figure.HandoffDelivery, 0.99, "")}},
		{"Time until accepted", "s", map[string]string{"p50": quantile(figure.HandoffAcceptance, 0.5, ""), "p95": quantile(figure.HandoffAcceptance, 0.95, ""), "p99": quantile(figure.HandoffAcceptance, 0.99, "")}},
		{"Time until accepted, p95 by agent", "s", map[string]string{"{{agent}}": quantile(figure.HandoffAcceptance, 0.95, "agent")}},
		{"Inboxes", "short", map[string]string{"{{agent}}": now(figure.InboxItems, "agent")}},
		{"Age of inboxes", "s", map[string]string{"{{agent}}": fmt.Sprintf("max by (agent) (%s{workspace=~\"$workspace\"})", figure.InboxAge.Prometheus())}},
		{"Tickets", "short", map[string]string{"{{kind}}, {{age}}": now(figure.TicketsOpen, "kind, age")}},
		{"Dead letters", "short", map[string]string{"{{workspace}}": now(figure.DeadLetters, "workspace")}},
		{"Circuits", "short", map[string]string{"{{scope}}, {{state}}": now(figure.Circuits, "scope, state")}},
		{"Retries and lost leases", "ops", map[string]string{"retries, {{workspace}}": rate(figure.Retries, "workspace"), "leases, {{workspace}}": rate(figure.LeasesLost, "workspace")}},
		{"Envelopes: completeness and utilisation", "percentunit", map[string]string{"completeness": mean(figure.EnvelopeCompleteness), "utilisation": mean(figure.EnvelopeUtilisation)}},
		{"Hops of a task", "short", map[string]string{"average": mean(figure.TaskHops), "p95": quantile(figure.TaskHops, 0.95, "")}},
		{"Audit coverage, agreement of the views", "percentunit", map[string]string{"audit": fmt.Sprintf("min(%s)", figure.AuditCoverage.Prometheus()), "views": fmt.Sprintf("min(%s)", figure.ViewConsistency.Prometheus())}},
		{"Commits", "ops", map[string]string{
			"commits, {{instance}}": fmt.Sprintf("rate(%s_count[$__rate_interval])", figure.LedgerCommit.Prometheus()), "entries, {{instance}}": fmt.Sprintf("rate(%s[$__rate_interval])", figure.LedgerEntries.Prometheus()),
		}},
		{"Time of a commit, p99", "s", map[string]string{"p99": fmt.Sprintf("histogram_quantile(0.99, sum by (le) (rate(%s_bucket[$__rate_interval])))", figure.LedgerCommit.Prometheus())}},
		{"Calls", "ops", map[string]string{"{{code}}": fmt.Sprintf("sum by (code) (rate(%s[$__rate_interval]))", figure.Calls.Prometheus())}},
		{"Memory", "bytes", map[string]string{"memory, {{instance}}": figure.Memory.Prometheus(), "write-ahead log, {{instance}}": figure.LedgerLog.Prometheus()}},
		{"Processor", "short", map[string]string{"cores, {{instance}}": fmt.Sprintf("rate(%s[$__rate_interval])", figure.ProcessorTime.Prometheus())}},
	}
}
