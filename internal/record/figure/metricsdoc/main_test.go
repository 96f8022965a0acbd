package main

import (
	"os"
	"path/filepath"
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

func TestAlertsSayWhatIsWrongAndWhatToDo(t *testing.T) {
	names := map[string]bool{}
	for _, a := range figure.Alerts() {
		if names[a.Name] || !strings.HasPrefix(a.Name, "Trapeze") || !strings.HasSuffix(a.Meaning, ".") || !strings.HasSuffix(a.Do, ".") || a.Expr == "" {
			t.Errorf("%+v", a)
		}
		names[a.Name] = true
	}
}
