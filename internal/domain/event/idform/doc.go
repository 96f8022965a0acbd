// Package idform is the form of the ids of tasks, of their parts and of memory items, and the refusal of an id of one kind where another
// is expected.
//
// Where to change what:
//   - idform.go: the kinds of ids, and which calls take each
//
// Start reading at [ParsePart].
package idform
