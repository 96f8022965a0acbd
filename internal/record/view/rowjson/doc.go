// Package rowjson writes rows of views as JSON without reflection, because nearly every entry writes some.
//
// Invariant: a row that is written reads back equal, field by field; a test counts the fields.
//
// Start reading at [AppendTask].
package rowjson
