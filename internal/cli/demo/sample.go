package demo

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// bakery is a small Go module.
var bakery = map[string]string{
	"go.mod":           "module example.com/bakery\n\ngo 1.26\n",
	"bakery.go":        "// Package bakery sells what the oven bakes.\npackage bakery\n\nimport \"example.com/bakery/oven\"\n\n// Open opens the shop.\nfunc Open() { oven.Heat(220) }\n\nfunc Close() { oven.Heat(0) }\n",
	"oven/oven.go":     "// Package oven bakes.\npackage oven\n\nvar degrees int\n\n// Heat sets the temperature.\nfunc Heat(to int) { degrees = to }\n",
	"dough/mix.go":     "// Package dough is what it all begins with.\npackage dough\n\n// Mix mixes flour and water, in grams.\nfunc Mix(flour, water int) int {\n\tif flour < 0 || water < 0 {\n\t\treturn 0\n\t}\n\treturn flour + water\n}\n",
	"till/till.go":     "package till\n\ntype Till struct{ Cents int }\n\nfunc (t *Till) Take(cents int) { t.Cents += cents }\n",
	"shop/shop.go":     "// Package shop is where customers come in.\npackage shop\n\nimport (\n\t\"example.com/bakery\"\n\t\"example.com/bakery/till\"\n)\n\n// Day is one day's work.\nfunc Day() int {\n\tvar t till.Till\n\tbakery.Open()\n\tt.Take(350)\n\tbakery.Close()\n\treturn t.Cents\n}\n",
	"shop/day_test.go": "package shop\n",
}

// Sample writes a small Go module and returns its directory.
func Sample(out io.Writer) (string, error) {
	dir, err := os.MkdirTemp("", "trapeze-bakery-")
	if err != nil {
		return "", err
	}
	for name, text := range bakery {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // source code
			return "", err
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	fmt.Fprintf(out, "There is no Go module here. The demo uses a small one that it has written to %s.\n", dir)
	fmt.Fprintln(out, "To use your own source: trapeze demo PATH")
	return dir, nil
}
