package trapeze_test

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// translations are the maps from hints of the server to hints in the terms of its callers, by package.
var translations = map[string]string{"internal/api/mcpapi": "callable", "internal/cli/advice": "hints"}

// checkHints finds translated hints that the server does not give. One that was reworded there reaches its reader untranslated.
func checkHints(t *tree) (out []finding) {
	var given strings.Builder
	var translated []*ast.BasicLit
	t.each(func(d *directory, f *sourceFile) {
		server := !under(d.path, "internal/api/mcpapi") && !under(d.path, "internal/cli")
		if f.test || !under(d.path, "internal") {
			return
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); server && n.Kind == token.STRING && err == nil {
					given.WriteString(text + "\n")
				}
			case *ast.ValueSpec:
				if m, ok := valueOf(n).(*ast.CompositeLit); ok && n.Names[0].Name == translations[d.path] {
					translated = append(translated, keys(m)...)
				}
			}
			return true
		})
	})
	for _, key := range translated {
		if hint, err := strconv.Unquote(key.Value); err == nil && !strings.Contains(given.String(), hint) {
			out = append(out, t.found(key.Pos(), "hint", "no refusal has the hint %q", hint))
		}
	}
	return out
}

// valueOf is the value of a declaration of one variable; nil if it has none.
func valueOf(spec *ast.ValueSpec) ast.Expr {
	if len(spec.Values) != 1 {
		return nil
	}
	return spec.Values[0]
}

// keys are the literal keys of a map.
func keys(m *ast.CompositeLit) (out []*ast.BasicLit) {
	for _, e := range m.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.BasicLit); ok {
				out = append(out, key)
			}
		}
	}
	return out
}
