package trapeze_test

import (
	"errors"
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestASectionThatFailsFailsTheRunOfChecks: the exit status of .ci/run decides whether a change lands. What else it may do is in slow tests.
func TestASectionThatFailsFailsTheRunOfChecks(t *testing.T) {
	code, out := runChecks(t, `echo "--- FAIL: TestX"; [[ $1 != test ]]`, "test", "vet")
	if want := "--- FAIL: TestX\nsections: 1 passed, 1 failed"; code != 1 || !strings.Contains(out, want) {
		t.Errorf("exit status %d, want 1 and %q in\n%s", code, want, out)
	}
}

// runChecks runs sections of .ci/run with programs that do nothing, and a go command of its own. It returns the exit status and what is printed.
func runChecks(t *testing.T, goCmd string, sections ...string) (code int, out string) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	script, err := os.ReadFile(".ci/run")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := programs(t, dir)
	write(".ci/run", string(script))
	write("bin/go", "#!"+bash+"\n"+goCmd+"\n")
	write("bin/git", "#!"+bash+"\ncase $* in *-l*) echo internal/content/x/x_slow_test.go internal/server/x_slow_test.go;; *-oE*) echo 'internal/a/a_test.go:func FuzzA('; echo 'internal/a/a_test.go:func FuzzB(';; esac\n")
	// renice, too: what runs behind gets no time on a machine that is busy otherwise, and sections wait for it.
	for _, program := range []string{"strace", "mount", "node", "npm", "promtool", "chromium", "python3", "ssh-agent", "initdb", "renice"} {
		write("bin/"+program, "#!"+bash+"\n")
	}
	for _, suite := range []string{"api/mcpapi/outside", "api/httpapi/outside", "cli/outside", "api/webpage/browser"} {
		write("internal/"+suite+"/testdata/venv/bin/pip", "#!"+bash+"\n")
		write("internal/"+suite+"/testdata/venv_mcp2/bin/pip", "#!"+bash+"\n")
	}
	cmd := exec.CommandContext(t.Context(), bash, append([]string{filepath.Join(dir, ".ci", "run")}, sections...)...)
	cmd.Env = []string{"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"), "TMPDIR=" + dir, "BUDGET=5m"}
	text, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return code, string(text)
}

// programs returns what writes a file below dir that can be run.
func programs(t *testing.T, dir string) (write func(path, text string)) {
	return func(path, text string) {
		t.Helper()
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWhatTheTagSlowChangesIsNamedInTests holds because the section of slow tests looks for the tests in the files that name it: in a
// function that tests of other files call, it would not be found.
func TestWhatTheTagSlowChangesIsNamedInTests(t *testing.T) {
	module := theModule(t)
	found := 0
	for _, d := range module.dirs {
		changed := map[string]bool{}
		for _, f := range d.files {
			if f.test && strings.Contains(f.tags(), "!slow") {
				for _, name := range declared(f.ast) {
					changed[name] = true
				}
			}
		}
		if len(changed) == 0 {
			continue
		}
		for _, f := range d.files {
			if !f.test || f.tags() != "" { // its tests are run, or are not of this section
				continue
			}
			for _, decl := range f.ast.Decls {
				function, _ := decl.(*ast.FuncDecl)
				ast.Inspect(decl, func(n ast.Node) bool {
					id, ok := n.(*ast.Ident)
					if !ok || !changed[id.Name] {
						return true
					}
					found++
					if function == nil || !strings.HasPrefix(function.Name.Name, "Test") {
						t.Errorf("%s: %s, which the tag slow changes, is not named by a test but by what tests call: .ci/run slow does not find them", f.path, id.Name)
					}
					return true
				})
			}
		}
	}
	if found == 0 {
		t.Error("nothing is changed by the tag slow: this test looks at nothing")
	}
}

// tags is the build constraint of a file.
func (f *sourceFile) tags() string {
	for _, group := range f.ast.Comments {
		for _, c := range group.List {
			if text, ok := strings.CutPrefix(c.Text, "//go:build "); ok && c.Pos() < f.ast.Package {
				return text
			}
		}
	}
	return ""
}

// declared are the names that a file declares in its package.
func declared(f *ast.File) (names []string) {
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil {
				names = append(names, decl.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, spec.Name.Name)
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						names = append(names, id.Name)
					}
				}
			}
		}
	}
	return names
}
