package hintroute_test

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/api/httpapi/hintroute"
)

var update = flag.Bool("update", false, "write the golden file")

// The golden file has each hint of the server that names a route, so that a change shows what callers are told to do. A route that does not help,
// or harms, is seen nowhere else.
func TestTheRoutesOfEveryHintOfTheServer(t *testing.T) {
	var out strings.Builder
	for _, hint := range hints(t, "../../..") {
		if routes := hintroute.Of(hint, ""); routes != nil {
			out.WriteString(hint + "\n    " + strings.Join(routes, "\n    ") + "\n")
		}
	}
	const golden = "testdata/hints.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("the routes of hints have changed: go test ./internal/api/httpapi/hintroute -update, and read the difference")
	}
}

// hints are the hints of all refusals below a directory that are constants, or made of constants and values (…), by their words.
func hints(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) < 3 {
				return true
			}
			if fn, ok := call.Fun.(*ast.SelectorExpr); ok && fn.Sel.Name == "New" {
				if pkg, ok := fn.X.(*ast.Ident); ok && pkg.Name == "refusal" {
					list = append(list, words(call.Args[1]))
				}
			}
			return true
		})
		return nil
	})
	if err != nil || len(list) < 300 {
		t.Fatalf("%d hints, %v", len(list), err)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// words are those of an expression; a value has none.
func words(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil {
			return text
		}
	case *ast.BinaryExpr:
		return words(e.X) + words(e.Y)
	}
	return "…"
}
