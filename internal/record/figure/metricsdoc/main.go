// Program metricsdoc writes docs/metrics.md from the instruments and the alerts, and rules for Prometheus and a dashboard for Grafana.
//
// Invariants:
//   - The files have every instrument or alert, and a test fails if those in the repository are others.
//
// Start reading at [document].
package main

import (
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/internal/record/figure"
)

// files are what is written, by path from the package record/figure.
var files = map[string]func() string{
	"../../../docs/metrics.md":                document,
	"../../../docs/alerts.md":                 alerts,
	"../../../docs/prometheus/rules.yaml":     rules,
	"../../../docs/prometheus/dashboard.json": dashboard,
}

func main() {
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // pages for everybody
			log.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text()), 0o644); err != nil { //nolint:gosec // pages for everybody
			log.Fatal(err)
		}
	}
}

var head = `# Figures

<!-- Written by go generate ./internal/record/figure. Do not edit. -->

The server gives figures at ` + "`/metrics`" + `, in the format of Prometheus, and sends them to a collector of OpenTelemetry if one is configured.

## Prometheus
Every request needs a token whose role may read everything: an auditor's is enough. It shows the figures of its own workspace and
those of the process, if it is the workspace default.

    trapeze token create --role auditor --name prometheus

Put the token that it shows into a file that only Prometheus can read, and name the file in its configuration:

    scrape_configs:
      - job_name: trapeze
        authorization:
          credentials_file: /etc/prometheus/trapeze.token
        static_configs:
          - targets: ['127.0.0.1:8727']

## OpenTelemetry
With ` + "`OTEL_EXPORTER_OTLP_ENDPOINT`" + ` or ` + "`OTEL_EXPORTER_OTLP_METRICS_ENDPOINT`" + ` in its environment, the server sends the figures of all workspaces
to that collector, by OTLP over HTTP, every minute or every ` + "`OTEL_METRIC_EXPORT_INTERVAL`" + ` milliseconds. The other variables
of the standard apply: headers, timeout, compression, certificates, resource attributes. The server does not start with a value of these that it cannot use, such as
an endpoint without ` + "`http://`" + ` or ` + "`https://`" + `. OTLP over gRPC is refused, too: set ` + "`OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf`" + ` and use the collector's port for HTTP. A variable of OpenTelemetry
that is set and has no effect, such as ` + "`OTEL_LOGS_EXPORTER`" + `, is named in the log at the start, with what to do about it.

## What they are taken from
- **record**: counted from the ledger, by a follower that works behind it and delays no answer. After a start the server counts
  the whole ledger again, so the figures are the same as before, whatever ended it. Until then they are left out, and
  ` + "`" + figureLag + "`" + ` says how many entries are left: a million entries take some seconds. The follower keeps a small record
  for each open task, and the 20,000 handoffs that ended last. Over OTLP, counters and histograms have the time of the first entry as their
  start: to a collector, a restart of the server is no reset.
- **views**: the present state, read from the views when it is asked for. Of an archived workspace nothing waits: its gauges are left out, its counters stay.
- **process**: counted by the process since its start.

A figure of the record is left out before the first event that it counts. Agents beyond the first 1,000, or the
number of ` + "`trapeze serve --figure-agents`" + `, are counted as one, named ` + "`other`" + `. Workspaces beyond the first 1,000 are counted
as one, named ` + "`(other)`" + `; only administrators create workspaces. Other labels are of closed sets, so no caller can make them many.

## What is behind a figure
Each figure of the record and of the views names the command that shows the handoffs, tasks or tickets behind it; AGENT is the value of its label. In the dashboard it is in the description
of each panel. The page ` + "`/figures`" + ` has the same of handoffs, with a link to each.

## Labels

| label | meaning |
|---|---|
`

var figureLag = figure.FigureLag.Prometheus()

func document() string {
	var b strings.Builder
	b.WriteString(head)
	for _, name := range slices.Sorted(maps.Keys(figure.Labels)) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, figure.Labels[name])
	}
	b.WriteString("\n## Instruments\n")
	for _, i := range figure.Instruments() {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n", i.Prometheus(), i.Meaning)
		b.WriteString("| OpenTelemetry | type | unit | labels | from |\n|---|---|---|---|---|\n")
		labels := "none"
		if len(i.Labels) > 0 {
			labels = "`" + strings.Join(i.Labels, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | `%s` | %s | %s |\n", i.Name, i.Type, i.Unit, labels, i.Origin)
		if i.Type == figure.Histogram {
			bounds := make([]string, len(i.Bounds))
			for n, bound := range i.Bounds {
				bounds[n] = strconv.FormatFloat(bound, 'f', -1, 64)
			}
			fmt.Fprintf(&b, "\nBuckets up to %s.\n", strings.Join(bounds, ", "))
		}
		if i.Behind != "" {
			fmt.Fprintf(&b, "\nWhat is behind it: `%s`.\n", i.Behind)
		}
	}
	b.WriteString("\n## Alerts\n[alerts.md](alerts.md) has the alerts on these figures.\n")
	return b.String()
}
