package scenario

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// embedded is called by the tests of what the embedded ledger alone has. They are listed in doc.go; all others run on any engine, if they need a record at all.
func embedded(t testing.TB) {
	t.Helper()
	if openAt != nil {
		t.Skip("of the embedded ledger alone")
	}
}

// TestWhatRunsOnTheEmbeddedLedgerAloneIsListed compares doc.go with the source, and finds a test that has an embedded ledger and does not say so.
func TestWhatRunsOnTheEmbeddedLedgerAloneIsListed(t *testing.T) {
	said := map[string]bool{}
	doc := parsed(t, "doc.go").Doc.Text()
	_, list, _ := strings.Cut(doc, "# On the embedded ledger alone")
	for _, name := range regexp.MustCompile(`\bTest\w+`).FindAllString(list, -1) {
		said[name] = true
	}
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	does := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_outside_test.go") {
			continue
		}
		for _, d := range parsed(t, name).Decls {
			f, is := d.(*ast.FuncDecl)
			if !is || f.Body == nil {
				continue
			}
			alone, opens := uses(f)
			if alone {
				does[f.Name.Name] = true
			}
			if opens != "" && !alone && !strings.HasPrefix(f.Name.Name, "Benchmark") && !slices.Contains(openers, f.Name.Name) {
				t.Errorf("%s: %s calls %s, so it has no record on another engine: use open, reopen or recordOf, or call embedded", name, f.Name.Name, opens)
			}
		}
	}
	if !maps.Equal(said, does) {
		t.Errorf("doc.go lists %v, and those that call embedded are %v", slices.Sorted(maps.Keys(said)), slices.Sorted(maps.Keys(does)))
	}
}

// openers are the functions that open an embedded ledger for others: they are told where it is, or are used by benchmarks, or by tests that call embedded.
var openers = []string{
	"openRecord", "driveServer", "measureDelivery", // the harness; benchmarks
	"serveBehind", "readRecord", "verifyViews", // of tests of kills
	"newAlarmed", // a clock that is moved
}

// uses tells what a function does itself: whether it says that it is of the embedded ledger alone, and with what it opens one.
func uses(f *ast.FuncDecl) (alone bool, opens string) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if !is {
			return true
		}
		switch name := called(call); name {
		case "embedded":
			alone = true
		case "sqlitelog.Open", "sqlview.OpenEmbedded":
			opens = name
		case "server.Open", "server.Run":
			config, is := call.Args[1].(*ast.CompositeLit)
			if is && !slices.ContainsFunc(config.Elts, func(e ast.Expr) bool {
				field, is := e.(*ast.KeyValueExpr)
				return is && field.Key.(*ast.Ident).Name == "Record"
			}) {
				opens = name + " without Record"
			}
		}
		return true
	})
	return alone, opens
}

// called is the name of what is called: f, or x.f.
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if x, is := f.X.(*ast.Ident); is {
			return x.Name + "." + f.Sel.Name
		}
	}
	return ""
}

func parsed(t *testing.T, file string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
