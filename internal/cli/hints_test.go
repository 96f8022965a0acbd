package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// filled stands for what a program fills in.
const filled = "X1"

var (
	verb = regexp.MustCompile(`%(\[\d+\])?[-+#.0-9]*[a-zA-Z]`)
	// hinted is a command: it begins with the program's name and ends with the text, with a line, or with a word that punctuation follows.
	hinted = regexp.MustCompile(`(^|[\s(` + "`" + `:"])trapeze ((?:[a-z][a-z-]*|--[a-z-]+)(?:[ =](?:'[^']*'|[^\s,;:.)` + "`" + `"]+(?:[,;:.)]+[^\s,;:.)` + "`" + `"]+)*…?))*)`)
)

// prose are words that follow the program's name in sentences.
var prose = map[string]bool{"request": true, "sign-in": true, "session": true, "when": true, "in": true, "with": true, "tool": true, "into": true, "commands": true, "trace": true, "--url": true, "deploy": true, "the": true}

// sentence are words after a command in a sentence of which it is the subject.
var sentence = map[string]bool{"has": true, "lists": true, "refuses": true, "says": true, "shows": true, "verifies": true}

// textOf is a text as the source of a program says it, with what is filled in as one word.
func textOf(e ast.Expr) (text string, literal bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, err := strconv.Unquote(e.Value)
			return verb.ReplaceAllString(text, filled), err == nil
		}
	case *ast.BinaryExpr:
		a, in := textOf(e.X)
		b, also := textOf(e.Y)
		return a + b, in || also
	case *ast.ParenExpr:
		return textOf(e.X)
	}
	return filled, false
}

// textsOf calls found with each text in the source files below a directory, and where it is.
func textsOf(t *testing.T, dir string, found func(at token.Position, text string)) {
	t.Helper()
	files := token.NewFileSet()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			e, is := n.(ast.Expr)
			if !is {
				return true
			}
			text, literal := textOf(e)
			if literal && strings.Contains(text, "trapeze ") {
				found(files.Position(e.Pos()), text)
			}
			return !literal
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestCommandsInHintsExistWithTheirFlags(t *testing.T) {
	n, root := 0, newCommands(Env{}).root()
	textsOf(t, "..", func(where token.Position, text string) {
		for _, at := range hinted.FindAllStringSubmatchIndex(text, -1) {
			begin, end, line := at[3], at[1], text[at[4]:at[5]]
			if first, _, _ := strings.Cut(line, " "); prose[first] {
				continue
			}
			n++
			if why := wrongHint(root, line, strings.HasSuffix(text[:begin], ": ") && strings.TrimSuffix(text[end:], ".") == ""); why != "" {
				t.Errorf("%s: trapeze %s: %s", where, line, why)
			}
		}
	})
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../../README.md", "../../CONTRIBUTING.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range hinted.FindAllStringSubmatch(string(text), -1) {
			first, _, _ := strings.Cut(m[2], " ")
			if why := wrongHint(root, m[2], false); why != "" && !prose[first] {
				t.Errorf("%s: trapeze %s: %s", page, m[2], why)
			}
		}
	}
	if n < 300 {
		t.Errorf("only %d commands were found", n)
	}
}

func wrongHint(root *cobra.Command, line string, exact bool) string {
	words := strings.Fields(line)
	cmd, rest, err := root.Find(words)
	if err != nil || cmd == root {
		return "there is no such command"
	}
	var args []string
	for i, w := range rest {
		if w == "--" {
			args = append(args, rest[i+1:]...)
			break
		}
		if !strings.HasPrefix(w, "-") && (i == 0 || !takesValue(cmd, rest[i-1])) {
			args = append(args, w)
		}
		name, is := strings.CutPrefix(w, "--")
		name, _, _ = strings.Cut(name, "=")
		if !is || name == "" {
			continue
		}
		var f *pflag.Flag
		if f = cmd.Flags().Lookup(name); f == nil {
			f = cmd.InheritedFlags().Lookup(name)
		}
		if f == nil {
			return "there is no flag --" + name
		}
	}
	if !exact || slices.ContainsFunc(args, func(w string) bool { return sentence[w] }) {
		return ""
	}
	if cmd.Args != nil {
		if err := cmd.Args(cmd, args); err != nil {
			return err.Error()
		}
	}
	return ""
}

// takesValue reports whether the word after a flag is its value.
func takesValue(cmd *cobra.Command, flag string) bool {
	name, is := strings.CutPrefix(flag, "--")
	f := cmd.Flags().Lookup(name)
	if f == nil {
		f = cmd.InheritedFlags().Lookup(name)
	}
	return is && f != nil && f.NoOptDefVal == ""
}

// ofAgents begin commands of which the server records who ran them.
var ofAgents = regexp.MustCompile(`trapeze (?:accept|ask|handoff|inbox|reject|send|takeover|task|envelope|ticket (?:show|claim))\b`)

func TestCommandsToPasteArePrintedAsNext(t *testing.T) {
	files := token.NewFileSet()
	pages, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range pages {
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is {
				return true
			}
			if to, is := call.Fun.(*ast.SelectorExpr); is && to.Sel.Name == "Line" {
				ast.Inspect(call, func(n ast.Node) bool {
					if text, is := n.(*ast.BasicLit); is && ofAgents.MatchString(text.Value) {
						t.Errorf("%s: %s is printed as it is: its reader, who acts as an agent, would not act as that agent", files.Position(text.Pos()), text.Value)
					}
					return true
				})
			}
			return true
		})
	}
}
