// Package human writes times, numbers, states, values, filters and the names of tasks on the page for people, and reads the times that they type.
//
// Where to change what:
//   - human.go: times, spans of time, numbers, states and other values
//   - past.go: how a time can be typed; filter.go: what a filter is set to
//   - names.go: what is shown of a task in the place of its id
//
// Start reading at [Span]; [Past] reads.
package human
