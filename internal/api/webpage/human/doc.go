// Package human is how the page writes times, numbers and values for people, and reads the times that they type.
//
// Start reading at [Span]; [Past] reads.
package human
