// Package screen makes what a command writes to a terminal safe to show, whatever it copies there.
//
// Start reading at [Before].
package screen
