// Command schemadoc writes docs/policy.schema.json, the JSON Schema of policy files, and the tables in docs/policy.md, from
// the Go types and the list of variables. A test fails where they differ.
//
// Start reading at [schema].
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

//go:generate go run . -o ../../../../docs

func main() {
	out := flag.String("o", "docs", "the directory of policy.md and policy.schema.json")
	flag.Parse()
	if err := write(*out, *out); err != nil {
		fmt.Fprintln(os.Stderr, "schemadoc:", err)
		os.Exit(1)
	}
}

// write writes the schema and the page into a directory. The page's text is that of the page in from.
func write(from, to string) error {
	raw, err := schema()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(to, "policy.schema.json"), raw, 0o644); err != nil {
		return err
	}
	old, err := os.ReadFile(filepath.Join(from, "policy.md"))
	if err != nil {
		return err
	}
	text, err := page(string(old))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, "policy.md"), []byte(text), 0o644)
}
