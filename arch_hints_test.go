package trapeze_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/internal/api/httpapi/hintroute"
)

// translations are the maps from hints of the server to hints in the terms of its callers, by package.
var translations = map[string]string{"internal/api/mcpapi/refused": "callable", "internal/cli/advice": "hints"}

// lookup finds hints that have a caller look something up, which agents do with tools, and people with commands.
var lookup = regexp.MustCompile(`\b(fetch (the|your)|list (the )?(agents|channels|conversations|dead letters|tasks)|check (your inbox|the id)|look at (the|its)|accept the offer first|search for items|your inbox|the task shows)\b`)

// notForAgents are packages whose refusals no tool and no command of an agent gets.
var notForAgents = []string{"internal/usecase/cluster", "internal/usecase/erasures", "internal/usecase/tokens", "internal/usecase/workspaces", "internal/domain/workspace", "internal/domain/identity"}

// operation finds the names of operations, as the record has them: list tasks.
var operation = regexp.MustCompile(`^list [a-z]+$`)

// noHints are packages whose texts that name commands are no hints of refusals.
var noHints = []string{"internal/domain/alert", "internal/domain/policy/schemadoc"}

// checkHints finds translated hints that the server does not give, and hints that have to be translated and are not: one that was reworded there reaches
// its reader untranslated, and so does one of several strings. It also finds hints for which the HTTP API names no route.
func checkHints(t *tree) (out []finding) {
	var given strings.Builder
	var lookups []hintText
	translated := map[string][]*ast.BasicLit{}
	t.each(func(d *directory, f *sourceFile) {
		if f.test || !under(d.path, "internal") {
			return
		}
		below := func(dir string) bool { return under(d.path, dir) }
		server := !below("internal/api/mcpapi") && !below("internal/cli")
		rules := (below("internal/domain") || below("internal/usecase") || below("internal/routing")) && !slices.ContainsFunc(noHints, below)
		agents := rules && !slices.ContainsFunc(notForAgents, below)
		for _, hint := range texts(f.ast) {
			if server {
				given.WriteString(hint.text + "\n")
			}
			if rules {
				out = append(out, checkRoutes(t, hint)...)
			}
			if agents && lookup.MatchString(hint.text) {
				lookups = append(lookups, hint)
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if n, ok := n.(*ast.ValueSpec); ok {
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
			if !hint.sole || !slices.ContainsFunc(all, func(key *ast.BasicLit) bool { return key.Value == hint.lit.Value }) {
				out = append(out, t.found(hint.lit.Pos(), "hint", "%s does not say how to do that: it is not in %s of %s", hint.lit.Value, translations[dir], dir))
			}
		}
	}
	return out
}

// checkRoutes finds commands and look-ups in a hint for which the HTTP API names no route.
func checkRoutes(t *tree, hint hintText) (out []finding) {
	for name, known := range hintroute.Commands(hint.text) {
		if !known {
			out = append(out, t.found(hint.lit.Pos(), "hint", "the HTTP API names no route for trapeze %s: it is not in commands of internal/api/httpapi/hintroute", name))
		}
	}
	if lookup.MatchString(hint.text) && hintroute.Of(hint.text, "") == nil {
		out = append(out, t.found(hint.lit.Pos(), "hint", "the HTTP API names no route for %q: it is not in phrases of internal/api/httpapi/hintroute", hint.text))
	}
	return out
}

// hintText is a text in the source that may be a hint.
type hintText struct {
	lit  *ast.BasicLit
	text string
	sole bool // it is no part of a longer text
}

// texts are the strings of a file that are no tags of fields.
func texts(f *ast.File) (out []hintText) {
	parts := map[*ast.BasicLit]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			return n.Tag == nil
		case *ast.BinaryExpr:
			for _, x := range []ast.Expr{n.X, n.Y} {
				if lit, ok := x.(*ast.BasicLit); ok && n.Op == token.ADD {
					parts[lit] = true
				}
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && !operation.MatchString(text) {
				out = append(out, hintText{n, text, !parts[n] && !strings.Contains(text, "%")})
			}
		}
		return true
	})
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
