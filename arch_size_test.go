package trapeze_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
)

// Limits, in lines and methods. The aim is half of each.
const (
	maxFile      = 500
	maxFunction  = 80
	maxPackage   = 3000 // without tests
	maxMain      = 60
	maxInterface = 7
)

// checkSizes measures everything but generated files.
func checkSizes(t *tree) (out []finding) {
	production := map[string]int{}
	t.each(func(d *directory, f *sourceFile) {
		if f.generated {
			return
		}
		if !f.test {
			production[d.path] += f.lines
		}
		limit := maxFile
		if under(d.path, "cmd") && path.Base(f.path) == "main.go" {
			limit = maxMain
		}
		if f.lines > limit {
			out = append(out, t.found(f.ast.FileStart, "size", "file of %d lines, limit %d", f.lines, limit))
		}
		out = append(out, t.tooLong(f)...)
		out = append(out, t.tooWide(d, f)...)
	})
	for dir, lines := range production {
		if lines > maxPackage {
			text := fmt.Sprintf("package of %d lines, limit %d: split it where a reader would", lines, maxPackage)
			out = append(out, finding{pos: dir, rule: "size", text: text})
		}
	}
	return out
}

// tooLong finds long functions, declared or literal.
func (t *tree) tooLong(f *sourceFile) (out []finding) {
	ast.Inspect(f.ast, func(n ast.Node) bool {
		name := "function literal"
		switch n := n.(type) {
		case *ast.FuncDecl:
			name = n.Name.Name
		case *ast.FuncLit:
		default:
			return true
		}
		lines := t.fset.Position(n.End()).Line - t.fset.Position(n.Pos()).Line + 1
		if lines > maxFunction {
			out = append(out, t.found(n.Pos(), "size", "%s has %d lines, limit %d", name, lines, maxFunction))
			return false
		}
		return true
	})
	return out
}

// tooWide finds interfaces with many methods, embedded ones included.
func (t *tree) tooWide(d *directory, f *sourceFile) (out []finding) {
	ast.Inspect(f.ast, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if _, ok := spec.Type.(*ast.InterfaceType); !ok {
			return true
		}
		if methods := t.methods(d, f, spec.Type, 0); methods > maxInterface {
			out = append(out, t.found(spec.Pos(), "size", "%s has %d methods, limit %d", spec.Name.Name, methods, maxInterface))
		}
		return true
	})
	return out
}

// methods counts the methods of an interface, following embedded interfaces of this module. One from outside counts
// as one method. depth ends the search in source that does not compile (interfaces that embed each other).
func (t *tree) methods(d *directory, f *sourceFile, expr ast.Expr, depth int) (count int) {
	if depth > maxInterface {
		return 0
	}
	switch e := expr.(type) {
	case *ast.InterfaceType:
		for _, m := range e.Methods.List {
			if len(m.Names) > 0 {
				count += len(m.Names)
			} else {
				count += t.methods(d, f, m.Type, depth+1)
			}
		}
		return count
	case *ast.Ident:
		return t.methodsOfNamed(d, e.Name, depth)
	case *ast.SelectorExpr:
		pkg, ok := e.X.(*ast.Ident)
		if !ok {
			return 1
		}
		for _, spec := range f.ast.Imports {
			dir, ours := t.local(importPath(spec))
			if named := spec.Name != nil && spec.Name.Name == pkg.Name; ours && (named || path.Base(dir) == pkg.Name) && t.dirs[dir] != nil {
				return t.methodsOfNamed(t.dirs[dir], e.Sel.Name, depth)
			}
		}
		return 1
	}
	return 0 // a type set, such as ~int | ~string
}

func (t *tree) methodsOfNamed(d *directory, name string, depth int) int {
	for _, f := range d.files {
		for _, decl := range f.ast.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.TYPE {
				continue
			}
			for _, spec := range group.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok && spec.Name.Name == name {
					return t.methods(d, f, spec.Type, depth+1)
				}
			}
		}
	}
	return 0
}
