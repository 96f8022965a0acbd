package trapeze_test

import (
	"go/ast"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/help"
)

// lookup finds hints that have a caller look something up, or do something, which agents do with tools, and people with commands.
var lookup = regexp.MustCompile(`\b(fetch (the|your)|list (the )?(agents|channels|conversations|dead letters|tasks)|check your inbox|look at (the trail|its content)|accept the offer|search for items|your inbox|the task shows)\b`)

// linkOf matches a link of a hint, see package help.
var linkOf = regexp.MustCompile(`\[([^\]]*)\]\(([^)]*)\)`)

// ofProgram finds a command in a text.
var ofProgram = regexp.MustCompile(`\btrapeze [a-z]`)

// operation finds the names of operations, as the record has them: list tasks.
var operation = regexp.MustCompile(`^list [a-z]+$`)

// noHints are packages whose texts are no hints of refusals.
var noHints = []string{"internal/domain/alert", "internal/domain/help", "internal/domain/policy/schemadoc", "internal/domain/handoff/statesdoc"}

// checkHints finds hints of the rules and the use cases that name a call in words alone, or as a command: each API makes its own words of a link. It also finds links
// with a call that there is not.
func checkHints(t *tree) (out []finding) {
	t.each(func(d *directory, f *sourceFile) {
		below := func(dir string) bool { return under(d.path, dir) }
		if f.test || slices.ContainsFunc(noHints, below) || !below("internal/domain") && !below("internal/usecase") && !below("internal/routing") {
			return
		}
		for _, text := range texts(f.ast) {
			for _, link := range linkOf.FindAllString(text.text, -1) {
				if _, helps := help.Parse(link); helps == nil {
					out = append(out, t.found(text.lit.Pos(), "hint", "package help has no call as in %s", link))
				}
			}
			if rest := linkOf.ReplaceAllString(text.text, ""); lookup.MatchString(rest) {
				out = append(out, t.found(text.lit.Pos(), "hint", "%q names a call in words alone: make a link of it, see package help", rest))
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) < 3 || !isCallOf(call, "refusal", "New") {
				return true
			}
			ast.Inspect(call.Args[1], func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if ok && ofProgram.MatchString(lit.Value) {
					out = append(out, t.found(lit.Pos(), "hint", "%s has a command: make a link of it, see package help", lit.Value))
				}
				return true
			})
			return true
		})
	})
	return out
}

// isCallOf reports whether a call is one of a function of a package.
func isCallOf(call *ast.CallExpr, pkg, name string) bool {
	fn, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || fn.Sel.Name != name {
		return false
	}
	x, ok := fn.X.(*ast.Ident)
	return ok && x.Name == pkg
}

// hintText is a text in the source that may be a hint.
type hintText struct {
	lit  *ast.BasicLit
	text string
}

// texts are the strings of a file that are no tags of fields.
func texts(f *ast.File) (out []hintText) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			return n.Tag == nil
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); strings.ContainsAny(n.Value[:1], "\"`") && err == nil && !operation.MatchString(text) {
				out = append(out, hintText{n, text})
			}
		}
		return true
	})
	return out
}
