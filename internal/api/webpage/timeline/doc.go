// Package timeline draws a task on the page: its trail as lines, who held it as bars, and what reached each receiver as stacks.
//
// Where to change what:
//   - moment.go: the line of each event; kind.go: which are good, bad or a question; ticket.go: what the lines of a ticket name
//   - hop.go: the list of its handoffs
//   - bar.go: who held the task when; picture.go: the stacks and their sizes
//
// Start reading at [Moments].
package timeline
