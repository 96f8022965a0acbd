//go:build slow && !race

package scenario

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// Every text of the program that puts a value into a command is written as its source says, with a hostile value in each place, and
// run: whatever stands around the value, it is one word.
func TestEachCommandInTheSourceHasHostileValuesAsWords(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	bin, ran := stubs(t, sh), 0
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "domain/shellword/") {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, e := range quoting(file) {
			for _, value := range hostileWords {
				for _, command := range commandsIn(written(e, value)) {
					if got := shellRuns(t, sh, bin, command); slices.Contains(got, "touch") || len(got) != 1 {
						t.Errorf("%s: %q runs %q", fset.Position(e.Pos()), command, got)
					}
					ran++
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if ran < 30*len(hostileWords) {
		t.Errorf("only %d commands were run", ran)
	}
}

// quoting are the largest sums of texts in a file that have a call of package shellword.
func quoting(file *ast.File) (list []ast.Expr) {
	ast.Inspect(file, func(n ast.Node) bool {
		e, is := n.(ast.Expr)
		if !is || len(sum(e)) == 0 || !slices.ContainsFunc(sum(e), func(e ast.Expr) bool { return quotes(e) != nil }) {
			return true
		}
		list = append(list, e)
		return false
	})
	return list
}

// sum is the texts that are added to an expression.
func sum(e ast.Expr) []ast.Expr {
	if b, is := e.(*ast.BinaryExpr); is && b.Op == token.ADD {
		return append(sum(b.X), sum(b.Y)...)
	}
	return []ast.Expr{e}
}

// quotes is e, if it is a call of package shellword.
func quotes(e ast.Expr) *ast.CallExpr {
	call, is := e.(*ast.CallExpr)
	if !is {
		return nil
	}
	if f, is := call.Fun.(*ast.SelectorExpr); is {
		if p, is := f.X.(*ast.Ident); is && p.Name == "shellword" {
			return call
		}
	}
	return nil
}

// written is the text of a sum, with a value in each place that package shellword writes, and nothing in others.
func written(e ast.Expr, value string) (text string) {
	for _, e := range sum(e) {
		if l, is := e.(*ast.BasicLit); is && l.Kind == token.STRING {
			s, _ := strconv.Unquote(l.Value)
			text += s
		}
		call := quotes(e)
		if call == nil {
			continue
		}
		values := make([]string, len(call.Args))
		for i := range values {
			values[i] = value
		}
		switch f := call.Fun.(*ast.SelectorExpr); f.Sel.Name {
		case "Command":
			program := "trapeze task show" // where it is no literal
			if l, is := call.Args[0].(*ast.BasicLit); is {
				program, _ = strconv.Unquote(l.Value)
			}
			text += shellword.Command(program, values[1:]...)
		case "Or":
			text += shellword.Or([]string{value, value})
		default:
			text += shellword.Quotes(values...)
		}
	}
	return text
}
