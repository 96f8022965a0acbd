// Package shape is JSON as clients send it: what no door should take, and what is described and can be taken in one pass.
//
// Invariants:
//   - A [Shape] says yes only to what the description takes too. What it says no to may still be right.
//   - Nothing here builds anything of a text, however long or deep it is.
//
// Start reading at [Shape]; for what is refused at [Check].
package shape
