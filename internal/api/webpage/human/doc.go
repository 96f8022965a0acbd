// Package human writes times, numbers, values and the names of tasks on the page for people, and reads the times that they type.
//
// Start reading at [Span]; [Past] reads.
package human
