// Command schemadoc writes docs/envelope.schema.json, the JSON Schema of envelopes, and docs/envelope.md, which explains
// every field, from the Go types and the table in fields.go. A test fails where they differ.
//
// Start reading at [fields].
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

//go:generate go run . -o ../../../../docs

func main() {
	out := flag.String("o", "docs", "the directory that envelope.md and envelope.schema.json are written to")
	flag.Parse()
	if err := write(*out); err != nil {
		fmt.Fprintln(os.Stderr, "schemadoc:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	raw, err := schema()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "envelope.schema.json"), raw, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "envelope.md"), []byte(page()), 0o644)
}
