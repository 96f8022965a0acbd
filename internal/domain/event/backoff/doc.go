// Package backoff has the pauses between tries: of offers that nobody answers, and of messages to people. How often something is tried again is decided where it is tried.
//
// Start reading at [Pause].
package backoff
