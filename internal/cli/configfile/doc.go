// Package configfile edits one place of another program's configuration file, and keeps the rest byte for byte: comments, order, spacing
// and unknown fields.
//
// Invariants:
//   - The functions take and return text: no file is read or written here.
//   - Text that cannot be parsed is refused. No input causes a panic.
//   - Making the same change again changes nothing.
//
// Start reading at [JSON] and [TOML].
package configfile
