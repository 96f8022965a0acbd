// Package rowjson writes rows of views as JSON, faster than by reflection: nearly every entry writes some.
//
// Invariant: what is written reads back as what it was, field by field; a test counts the fields.
//
// Start reading at [AppendTask].
package rowjson
