package hintroute

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

	"github.com/trapezehq/trapeze/internal/domain/help"
)

var update = flag.Bool("update", false, "write the golden file")

// The golden file has each hint of the server that names a route, so that a change shows what callers are told to do. A route that does not help,
// or harms, is seen nowhere else.
func TestTheRoutesOfEveryHintOfTheServer(t *testing.T) {
	var out strings.Builder
	for _, link := range hints(t, "../../..") {
		text, helps := help.Parse(link)
		for i := range helps { // a value has no words, and as a part of a route none that read
			helps[i].ID = strings.ReplaceAll(helps[i].ID, "…", "ID")
		}
		if Of(helps) != nil && strings.Trim(text, "…") != "" {
			out.WriteString(text + "\n    " + strings.Join(Of(helps), "\n    ") + "\n")
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

// hints are the texts below a directory that have links, whole or as sums of texts and values (…), by their words.
func hints(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "domain/help/") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			text := words(e)
			if _, helps := help.Parse(text); helps == nil {
				return true
			}
			list = append(list, text)
			return false
		})
		return nil
	})
	if err != nil || len(list) < 150 {
		t.Fatalf("%d hints, %v", len(list), err)
	}
	slices.SortFunc(list, func(a, b string) int { return strings.Compare(strings.TrimLeft(a, "["), strings.TrimLeft(b, "[")) })
	return slices.Compact(list)
}

// words are those of an expression; a value has none.
func words(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return text
		}
	case *ast.BinaryExpr:
		return words(e.X) + words(e.Y)
	case *ast.CallExpr:
		fn, ok := e.Fun.(*ast.SelectorExpr)
		switch {
		case ok && fn.Sel.Name == "To" && len(e.Args) >= 3:
			return help.To(words(e.Args[0]), help.Call(words(e.Args[1])), "")
		case ok && fn.Sel.Name == "ToAdd" && len(e.Args) == 4:
			return help.To(words(e.Args[0]), "agent add", "") + words(e.Args[2])
		}
	}
	return "…"
}
