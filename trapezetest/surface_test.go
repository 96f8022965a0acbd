package trapezetest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"
)

// What users see must not have types that they cannot import.
func TestTheExportedAPIHasNoTypesOfInternalPackages(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, f := range files {
		if path.Ext(f.Name()) != ".go" || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		hidden := map[string]bool{}
		for _, spec := range file.Imports {
			if name, err := strconv.Unquote(spec.Path.Value); err == nil && strings.Contains(name, "/internal/") {
				hidden[path.Base(name)] = true
			}
		}
		seen += len(hidden)
		for _, use := range exportedUses(file) {
			if hidden[use] {
				t.Errorf("%s: the exported API has a type of %s", f.Name(), use)
			}
		}
	}
	if seen == 0 {
		t.Error("no file imports an internal package: this test looks in the wrong place")
	}
}

// exportedUses are the packages that the exported declarations of a file name: signatures, fields and types, not bodies.
func exportedUses(file *ast.File) (packages []string) {
	look := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if f, ok := n.(*ast.Field); ok && len(f.Names) > 0 && !f.Names[0].IsExported() && f.Tag == nil {
				if _, isFunc := f.Type.(*ast.FuncType); !isFunc {
					return false // an unexported field; a parameter is looked at through its list
				}
			}
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok {
					packages = append(packages, x.Name)
				}
			}
			return true
		})
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() {
				for _, list := range []*ast.FieldList{d.Type.Params, d.Type.Results} {
					if list == nil {
						continue
					}
					for _, f := range list.List {
						look(f.Type)
					}
				}
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() {
					look(s.Type)
				}
				if s, ok := s.(*ast.ValueSpec); ok && s.Names[0].IsExported() && s.Type != nil {
					look(s.Type)
				}
			}
		}
	}
	return packages
}
