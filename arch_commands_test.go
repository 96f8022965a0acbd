package trapeze_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// shownCommand matches a text that goes on after a command of ours or of git: nothing but subcommands and options lies between the
// name of the program and the end, where a value follows.
var shownCommand = regexp.MustCompile(`(^|[^a-z-])(trapeze|git)( [a-z][a-z-]*)+( --?[a-z-]+([ =][A-Z]+)?)*[ =]$`)

// verbOfFormat matches a verb of a format for text.
var verbOfFormat = regexp.MustCompile(`%[+#]?[0-9.]*[a-zA-Z]`)

// checkCommands finds a value that is put into a command without the package shellword: pasted into a shell, it could become more
// than one word.
func checkCommands(t *tree) (out []finding) {
	t.each(func(d *directory, f *sourceFile) {
		if f.test || d.path == "internal/domain/shellword" {
			return
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if text, ok := lastText(n.X); ok && n.Op == token.ADD && shownCommand.MatchString(text) && !isQuoted(n.Y) {
					out = append(out, t.found(n.OpPos, "command", "a value follows %q: write it with shellword", text))
				}
			case *ast.CallExpr:
				for i, arg := range n.Args {
					for at, verb := range commandVerbs(arg) {
						if i+1+at >= len(n.Args) || !isQuoted(n.Args[i+1+at]) {
							out = append(out, t.found(arg.Pos(), "command", "%s stands in a command: write it with shellword", verb))
						}
					}
				}
			}
			return true
		})
	})
	return out
}

// lastText is the literal at the end of a sum of texts.
func lastText(e ast.Expr) (string, bool) {
	if sum, ok := e.(*ast.BinaryExpr); ok && sum.Op == token.ADD {
		return lastText(sum.Y)
	}
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(l.Value)
	return text, err == nil
}

// commandVerbs are the verbs of a format that stand in a command, by their place among its verbs.
func commandVerbs(e ast.Expr) map[int]string {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return nil
	}
	text, err := strconv.Unquote(l.Value)
	if err != nil {
		return nil
	}
	found := map[int]string{}
	for i, at := range verbOfFormat.FindAllStringIndex(text, -1) {
		verb := text[at[0]:at[1]]
		if !strings.HasSuffix(verb, "d") && shownCommand.MatchString(text[:at[0]]) {
			found[i] = verb
		}
	}
	return found
}

// isQuoted reports whether an expression is a call of shellword, a literal, or a number.
func isQuoted(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.CallExpr:
		f, ok := e.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		p, ok := f.X.(*ast.Ident)
		return ok && (p.Name == "shellword" || p.Name == "strconv" && f.Sel.Name == "Itoa")
	}
	return false
}
