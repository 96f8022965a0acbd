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
// Start reading at [Instruments], then [Tally.Add]; recent.go has the percentiles of the last day, alert.go the alerts on all of it.
package figure

//go:generate go run ./metricsdoc
