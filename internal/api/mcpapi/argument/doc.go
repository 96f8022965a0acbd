// Package argument is what tools are called with: the schema that a model is shown of a struct, and the struct read back from
// what the model wrote.
//
// A field says of itself what it is for (`jsonschema`), and which values it takes (`enum`); one without omitempty or omitzero is
// needed. Both the schema and the refusals come from that, so that they agree.
//
// Invariants:
//   - A schema costs as few tokens as it can be said in.
//   - Nothing that was given is dropped: a field that is not known, or not in that place, is refused.
//   - What is wrong is said in words that a model can mend it by.
//
// Start reading at [Decode], then [Schema].
package argument
