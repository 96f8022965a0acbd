// Package form reads the forms of the page, and refuses those that contradict themselves.
//
// Start reading at [Replay].
package form
