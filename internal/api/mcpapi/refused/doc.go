// Package refused writes what a model reads of a call of a tool that was refused: hints of the server in the names of tools, and what to do next
// where the refusal does not say it.
//
// Start reading at [Result].
package refused
