// Package otelapi gives the figures to other programs: at /metrics in the format of Prometheus, and to a collector of OpenTelemetry.
// No other package knows OpenTelemetry's metrics; the figures themselves are those of record/figure.
//
// Invariants:
//   - A reader gets the figures of its own workspace and of the process, and no other workspace's.
//   - Names, units and labels are those of [figure.Instruments]: a test compares them.
//   - Nothing is counted here: a scrape that fails loses nothing.
//
// Start reading at [New]; the conversion is in producer.go, OTLP in push.go.
package otelapi
