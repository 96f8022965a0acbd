// Package graft changes other programs' files in one place and leaves the rest byte for byte: comments, order, spacing,
// and what it does not know.
//
// Invariants:
//   - Text in, text out: nothing here reads or writes a file.
//   - What cannot be read is refused, never written over. No input makes it panic.
//   - The same change made twice is made once.
//
// Start reading at [JSON] and [TOML].
package configfile
