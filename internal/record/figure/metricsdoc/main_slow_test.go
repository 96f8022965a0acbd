//go:build slow

package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/figure"
)

func TestTheFilesAreThoseOfTheInstruments(t *testing.T) {
	for path, text := range files {
		b, err := os.ReadFile(filepath.Join("..", path))
		if err != nil || string(b) != text() {
			t.Errorf("%s differs from the instruments (%v): run go generate ./internal/record/figure", path, err)
		}
	}
}

func TestEachAlertHasARuleForPrometheusOnItsFigure(t *testing.T) {
	for _, a := range figure.Alerts() {
		of := figure.ByName(a.Figure)
		if of == nil || !strings.Contains(a.Expr, of.Prometheus()) || !strings.HasPrefix(a.Prometheus(), "Trapeze") {
			t.Errorf("%s: %s", a.Name, a.Expr)
		}
		for _, want := range []string{"alert: " + a.Prometheus() + "\n", "severity: " + string(a.Severity), quoted(a.Expr), quoted(a.Meaning())} {
			if !strings.Contains(rules(), want) {
				t.Errorf("the rules lack %s", want)
			}
		}
		if threshold := strconv.FormatFloat(a.Threshold, 'g', -1, 64); !strings.Contains(a.Expr, string(a.Compare)+" "+threshold) {
			t.Errorf("%s does not compare as the server does: %s", a.Name, a.Expr)
		}
	}
}
