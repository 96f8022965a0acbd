// Package argument converts between tool arguments and Go structs: the schema of a struct that a model reads, and the struct decoded
// from what the model wrote.
//
// The tags of a field have its description (`jsonschema`) and its allowed values (`enum`); a field without omitempty or omitzero is
// required. Schemas and refusals are both derived from the tags, so that they agree.
//
// Invariants:
//   - A schema has as few tokens as possible.
//   - No argument is dropped: an unknown field is refused, at any depth.
//   - A refusal says how to fix the arguments.
//
// Start reading at [Decode], then [Schema].
package argument
