// Package shape validates JSON of clients in one pass: [Check] refuses JSON that no API should accept, and a [Shape] recognises JSON that
// satisfies a schema.
//
// Invariants:
//   - What a [Shape] accepts, the schema accepts too. What it does not accept may still be valid.
//   - Nothing here decodes a text into values, however long or deep it is.
//
// Start reading at [Shape] and [Check].
package shape
