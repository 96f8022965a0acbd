// Package sheet compares what the receivers of two handoffs were given, entry by entry.
//
// Start reading at [Compare].
package sheet
