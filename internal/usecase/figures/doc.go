// Package figures has the use cases of figures: how handoffs went in the last minutes, hours or day, and which of them are behind a figure.
//
// Invariants:
//   - A caller sees the handoffs of its own workspace, and only if it may read anything there.
//   - Nothing is counted here: the figures come from a [Source].
//
// Start reading at [Figures.ShowStats]; the counting is in record/figure.
package figures
