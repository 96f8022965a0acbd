// Package sheet compares what the receivers of two handoffs were given, entry by entry.
//
// Where to change what:
//   - sheet.go: what of an envelope is compared; parts.go: what is marked of a text that has changed; words.go: how the reason of an omission is written
//
// Start reading at [Compare].
package sheet
