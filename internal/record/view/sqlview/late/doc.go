// Package late keeps what the tables of views lack of the entries that their projector has in memory, and says when they have to be written.
// Start reading at [Late].
package late
