package main

import (
	"os"
	"testing"
)

func TestThePageIsThatOfTheInstruments(t *testing.T) {
	b, err := os.ReadFile("../" + page)
	if err != nil || string(b) != document() {
		t.Errorf("docs/metrics.md differs from the instruments (%v): run go generate ./internal/record/figure", err)
	}
}
