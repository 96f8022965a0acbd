// Package figure counts what the record says about handoffs: how long they take, what fails, what waits, what is lost on the way.
//
// The instruments are in one file, instrument.go: name, unit, labels and meaning. docs/metrics.md is made from it. Everything that
// gives figures gives [Point]s of these instruments: the [Tally] those that are counted from the record, the server those of
// the views and of its process.
//
// Invariants:
//   - A tally is the fold of the entries alone. It reads no clock, so it is the same after any restart.
//   - Labels are bounded: they are of closed sets, except for agents and workspaces, of which a tally names a configured number.
//     All further ones are [Other].
//   - Memory is bounded by the open tasks, the labels, and a fixed number of handoffs that ended.
//   - A figure leads to handoffs: [Recent] has their ids.
//
// Where to change what:
//   - instrument.go: each figure with its unit, labels, buckets and meaning. The text of a label is there; its values are made in
//     count.go for figures of the record, and in monitor/points.go for what waits, such as the ages of tickets,
//     and in server/figures.go for the process, such as calls
//   - count.go: which events are counted, and when a handoff has ended
//   - condition.go: how an alert is measured on figures of the record, and what is too little to measure; the others are in
//     monitor/measure.go. Thresholds are in alert/definitions.go
//   - alert.go: the same alerts as rules for Prometheus
//   - account.go: to which sender and receiver a failure is attributed; answer.go: which offers an agent missed, and when a short offer is its sender's doing;
//     sender.go: which failures alerts leave out
//   - failures.go: which failures a figure names; recent.go: which percentiles, and the slowest and failed handoffs; stats.go: groups and spans of statistics
//   - past.go: for how long minutes are kept; tally.go: how many workspaces and agents are told apart; label.go: the labels of those, and of all others
//   - outcome.go: when an agent fails most of its tasks; point.go: how many labels a figure has
//
// Start reading at [Instruments], then [Tally.Add]; recent.go has the percentiles of the last day, alert.go the alerts on all of it.
package figure

//go:generate go run ./metricsdoc
