//go:build slow

package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/span"
)

func TestThePageIsThatOfTheNames(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", page))
	if err != nil || string(b) != document() {
		t.Errorf("docs/traces.md differs from the names (%v): run go generate ./internal/record/span", err)
	}
}

func TestEveryAttributeOfASpanIsListed(t *testing.T) {
	all := span.Attributes()
	for _, s := range append(span.Steps(), span.Calls()...) {
		for _, a := range s.Attributes {
			if !slices.Contains(all, a) {
				t.Errorf("%s: %s", s.Name, a.Name)
			}
		}
	}
}
