// Package otelapi gives the figures to other programs: at /metrics in the format of Prometheus, and to a collector of OpenTelemetry.
// No other package knows OpenTelemetry's metrics; the figures themselves are those of record/figure.
//
// Invariants:
//   - A reader gets the figures of its own workspace, and no other workspace's; those of the process only in the workspace that the options name.
//   - Names, units and labels are those of [figure.Instruments]: a test compares them.
//   - Nothing is counted here: a scrape that fails loses nothing.
//   - A variable about the collector (OTEL_EXPORTER_OTLP_…) that the SDK would skip is refused: nothing is sent elsewhere than the operator wrote.
//
// Where to change what:
//   - otelapi.go: how many scrapes run at once; push.go: when figures are sent to a collector (at the interval of OTEL_METRIC_EXPORT_INTERVAL, or the SDK's)
//   - environment.go: which variables of the environment are read, and which of their values are refused; unused.go: which have no effect
//   - traces.go: how the spans of calls wait, how many, and how all spans are sent (those of the record wait in tracer/tracer.go); sampler.go: which traces are taken
//   - producer.go: how a figure becomes one of OpenTelemetry; calls.go: the spans of calls; wire.go: their bytes
//   - Figures are defined in figure/instrument.go and measured in monitor/points.go; spans are made in package record/span.
//
// Start reading at [New]; the conversion is in producer.go, OTLP in push.go.
package otelapi
