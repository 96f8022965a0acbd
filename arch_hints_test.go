package trapeze_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// translations are the maps from hints of the server to hints in the terms of its callers, by package.
var translations = map[string]string{"internal/api/mcpapi/refused": "callable", "internal/cli/advice": "hints"}

// lookup finds hints that have a caller look something up, which agents do with tools, and people with commands.
var lookup = regexp.MustCompile(`\b(fetch (the|your)|list (the )?(agents|channels|conversations|dead letters|tasks)|check (your inbox|the id)|look at (the|its)|accept the offer first|search for items|your inbox|the task shows)\b`)

// notForAgents are packages whose refusals no tool and no command of an agent gets.
var notForAgents = []string{"internal/usecase/cluster", "internal/usecase/erasures", "internal/usecase/tokens", "internal/usecase/workspaces", "internal/domain/workspace", "internal/domain/identity"}

// checkHints finds translated hints that the server does not give, and hints that have to be translated and are not. One that was
// reworded there reaches its reader untranslated.
func checkHints(t *tree) (out []finding) {
	var given strings.Builder
	var lookups []*ast.BasicLit
	translated := map[string][]*ast.BasicLit{}
	t.each(func(d *directory, f *sourceFile) {
		if f.test || !under(d.path, "internal") {
			return
		}
		server := !under(d.path, "internal/api/mcpapi") && !under(d.path, "internal/cli")
		agents := (under(d.path, "internal/domain") || under(d.path, "internal/usecase") || under(d.path, "internal/routing")) &&
			!slices.ContainsFunc(notForAgents, func(dir string) bool { return under(d.path, dir) })
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); server && n.Kind == token.STRING && err == nil {
					given.WriteString(text + "\n")
				}
			case *ast.CallExpr:
				if hint := hintOf(n); agents && hint != nil && lookup.MatchString(hint.Value) {
					lookups = append(lookups, hint)
				}
			case *ast.ValueSpec:
				if m, ok := valueOf(n).(*ast.CompositeLit); ok && n.Names[0].Name == translations[d.path] {
					translated[d.path] = append(translated[d.path], keys(m)...)
				}
			}
			return true
		})
	})
	for dir, all := range translated {
		for _, key := range all {
			if hint, err := strconv.Unquote(key.Value); err == nil && !strings.Contains(given.String(), hint) {
				out = append(out, t.found(key.Pos(), "hint", "no refusal has the hint %q", hint))
			}
		}
		for _, hint := range lookups {
			if !slices.ContainsFunc(all, func(key *ast.BasicLit) bool { return key.Value == hint.Value }) {
				out = append(out, t.found(hint.Pos(), "hint", "%s does not say how to do that: it is not in %s of %s", hint.Value, translations[dir], dir))
			}
		}
	}
	return out
}

// hintOf is the hint of a refusal that is made, if it is a literal; nil otherwise.
func hintOf(call *ast.CallExpr) *ast.BasicLit {
	made, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || made.Sel.Name != "New" || len(call.Args) < 3 {
		return nil
	}
	if of, ok := made.X.(*ast.Ident); !ok || of.Name != "refusal" {
		return nil
	}
	hint, _ := call.Args[1].(*ast.BasicLit)
	return hint
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
