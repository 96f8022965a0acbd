// Package parts gives parts of an envelope to a reader by name: what the prompt of a rendition left out, from the envelope that it was
// made of.
//
// Invariants:
//   - A page is within its number of tokens, and the pages of one call hold each part once and whole.
//   - A name that names nothing is reported, never passed over.
//
// Where to change what:
//   - find.go: by which names a part is found; page.go: how large a page is; render.go: how a page is written
//
// Start reading at [Find], then [Pages.Page]; [Render] writes a page.
package parts
