// Package typeschema makes JSON Schemas (draft 2020-12) of Go types, for the programs that write schemas to docs.
//
// Invariants:
//   - A type without a schema is an error, also a closed set that is not listed: no schema accepts more than it should
//     because a type was forgotten.
//   - The same types give the same bytes.
//
// Start reading at [Types.Schema].
package typeschema
