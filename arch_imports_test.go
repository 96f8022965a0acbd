package trapeze_test

import (
	"go/ast"
	"path"
	"slices"
	"strings"
)

// pureStandard is what a pure package may use of the standard library: nothing that reads a file, a socket, a clock or
// a source of chance. Chance and time come in as data.
var pureStandard = []string{
	"bytes", "cmp", "crypto/hmac", "crypto/sha256", "crypto/subtle", "encoding", "errors", "fmt", "hash", "iter", "maps",
	"math", "math/big", "math/bits", "net/netip", "net/url", "reflect", "regexp", "slices", "sort", "strconv", "strings", "text/template",
	"time", "unicode", "unicode/utf16", "unicode/utf8",
}

// impureCalls are the functions of otherwise harmless packages that a pure package may not even mention.
var impureCalls = map[string][]string{
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "LoadLocation", "Local"},
	"fmt":  {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
}

// guardedStandard are standard packages that belong to some packages only; the table's libs grant them. What is harmless
// below them is in freeStandard.
var (
	guardedStandard = []string{"C", "database/sql", "net", "os/exec", "plugin", "testing", "unsafe"}
	freeStandard    = []string{"net/netip", "net/url"}
)

func isStandard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}

// checkImports compares every import of production code with the table.
func checkImports(t *tree) (out []finding) {
	t.each(func(d *directory, f *sourceFile) {
		p, listed := t.table.pkg(d.path)
		if f.test || !listed {
			return
		}
		for _, spec := range f.ast.Imports {
			if imported := importPath(spec); !t.mayImport(p, imported) {
				out = append(out, t.found(spec.Pos(), "import", "%s may not import %s", d.path, imported))
			}
		}
	})
	return out
}

func (t *tree) mayImport(p pkg, imported string) bool {
	if dir, ours := t.local(imported); ours {
		return slices.Contains(strings.Fields(p.imports), short(dir))
	}
	switch {
	case underAny(imported, strings.Fields(p.libs)):
		return true
	case !isStandard(imported):
		return false
	case p.pure:
		return slices.Contains(pureStandard, imported) || strings.HasPrefix(imported, "encoding/")
	}
	return !isGuarded(imported)
}

func isGuarded(imported string) bool {
	return underAny(imported, guardedStandard) && !slices.Contains(freeStandard, imported)
}

// checkPure finds clocks, printing and concurrency in the pure packages.
func checkPure(t *tree) (out []finding) {
	t.each(func(d *directory, f *sourceFile) {
		p, listed := t.table.pkg(d.path)
		if f.test || !listed || !p.pure {
			return
		}
		names := map[string]string{} // local name to import path
		for _, spec := range f.ast.Imports {
			name := path.Base(importPath(spec))
			if spec.Name != nil {
				name = spec.Name.Name
			}
			if name == "." {
				out = append(out, t.found(spec.Pos(), "pure", "a dot import hides where a name comes from"))
			}
			names[name] = importPath(spec)
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				out = append(out, t.found(n.Pos(), "pure", "%s may not start goroutines", d.path))
			case *ast.SelectorExpr:
				x, ok := n.X.(*ast.Ident)
				if ok && slices.Contains(impureCalls[names[x.Name]], n.Sel.Name) {
					out = append(out, t.found(n.Pos(), "pure", "%s may not use %s.%s", d.path, names[x.Name], n.Sel.Name))
				}
			}
			return true
		})
	})
	return out
}

// checkTestImports keeps tests from reaching into programs: what a test needs belongs to a package.
func checkTestImports(t *tree) (out []finding) {
	t.each(func(_ *directory, f *sourceFile) {
		if !f.test {
			return
		}
		for _, spec := range f.ast.Imports {
			if dir, ours := t.local(importPath(spec)); ours && under(dir, "cmd") {
				out = append(out, t.found(spec.Pos(), "test import", "tests may not import %s", dir))
			}
		}
	})
	return out
}

// checkGoMod refuses directives that break `go install` for users.
func checkGoMod(t *tree) (out []finding) {
	for line := range strings.Lines(t.goMod) {
		verb := strings.FieldsFunc(line, func(c rune) bool { return c == ' ' || c == '\t' || c == '(' || c == '\n' })
		if len(verb) > 0 && (verb[0] == "replace" || verb[0] == "exclude") {
			out = append(out, finding{pos: "go.mod", rule: "go.mod", text: "no " + verb[0] + ": it breaks go install"})
		}
	}
	return out
}
