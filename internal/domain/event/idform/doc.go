// Package idform is the form of the ids of tasks, of their parts and of memory items, the refusal of an id of one kind where another
// is expected, and which ids look alike to a reader.
//
// Where to change what:
//   - idform.go: the kinds of ids, and which calls take each
//   - point.go: the form of the ids of facts and decisions
//   - alike.go: when two ids of constraints look alike (a name of an agent is plain ASCII: event/name.go), and which characters cannot be seen (ids are refused in event/constraint_set.go,
//     labels in event/name.go)
//
// Start reading at [ParsePart].
package idform
