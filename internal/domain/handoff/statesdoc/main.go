// Command statesdoc writes docs/states.md from the transition tables, docs/visibility.md from the rule of who reads what, and docs/events.md
// from the event types, so that the pages say what the rules do. A test fails where they differ.
//
// Start reading at [states], [visibility] and [events].
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("o", "docs/states.md", "the page of the states; events.md and visibility.md are written beside it")
	flag.Parse()
	if err := write(*out); err != nil {
		fmt.Fprintln(os.Stderr, "statesdoc:", err)
		os.Exit(1)
	}
}

func write(out string) error {
	docs := filepath.Dir(out)
	page, err := events(filepath.Dir(docs))
	if err != nil {
		return err
	}
	if err := os.WriteFile(out, []byte(states()), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(docs, "visibility.md"), []byte(visibility()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(docs, "events.md"), []byte(page), 0o644)
}
