// Package configfile edits one place of another program's configuration file, and keeps the rest byte for byte: comments, order, spacing
// and unknown fields.
//
// Invariants:
//   - The functions take and return text: no file is read or written here.
//   - Text that cannot be parsed is refused. No input causes a panic.
//   - Making the same change again changes nothing.
//
// Where to change what:
//   - json.go, toml.go, section.go: the edits of JSON, TOML and Markdown; jsonscan.go, tomlscan.go: which texts are understood
//   - value.go: which values are written; diff.go: how a change is shown. Which files there are is in setup/clients.go
//
// Start reading at [JSON] and [TOML].
package configfile
