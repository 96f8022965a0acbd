// Package standing says what a task that has not ended waits for, in sentences for people.
//
// Start reading at [Of].
package standing
