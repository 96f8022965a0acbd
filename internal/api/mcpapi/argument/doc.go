// Package argument converts between tool arguments and Go structs: the schema of a struct that a model reads, and the struct decoded
// from what the model wrote.
//
// A field describes itself in a tag (`jsonschema`), and one without omitempty or omitzero is required. Its values are those of the
// closed set of package client that is its type. Schemas and refusals are both derived from the field, so that they agree.
//
// Invariants:
//   - A schema has as few tokens as possible.
//   - No argument is dropped: an unknown field is refused, at any depth.
//   - A refusal says how to fix the arguments.
//
// Where to change what:
//   - decode.go: which other forms of a list or a text count, for all tools alike (what one tool alone takes is in its own file); plain.go: what models write for nothing
//   - schema.go: what a model reads of an argument; choices.go: the values of closed sets
//   - duration.go: times and durations; cursor.go: cursors; constraints.go: constraints without a kind; steps.go, attachments.go:
//     what a plain text means
//   - task.go: where the id of a handoff stands for its task; number.go: numbers; filled.go: which empty values count as not given
//
// Start reading at [Decode], then [Schema].
package argument
