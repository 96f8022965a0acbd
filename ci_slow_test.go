package trapeze_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSlowRunsWhatTheTagAddsAndChanges runs the section of slow tests in repositories of a few tests: what is run is in the flag of the tests.
func TestSlowRunsWhatTheTagAddsAndChanges(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	script, err := os.ReadFile(".ci/run")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"a/slow_test.go":     "//go:build slow\n\npackage a\n\nconst size = 100\n\nfunc TestMore(t *testing.T) {}\n",
		"a/ordinary_test.go": "package a\n\nfunc TestOrdinary(t *testing.T) {}\n",
	}
	fast := "//go:build !slow\n\npackage a\n\n"
	tests := map[string]struct {
		files map[string]string
		run   string
	}{
		"what it adds":                  {nil, "^(TestMore)$"},
		"a number":                      {map[string]string{"a/fast_test.go": fast + "const size = 1\n", "a/n_test.go": "package a\n\nfunc TestN(t *testing.T) { n(size) }\n"}, "^(TestMore|TestN)$"},
		"one of several numbers":        {map[string]string{"a/fast_test.go": fast + "const (\n\tsize  = 1\n\tother = 1\n)\n", "a/n_test.go": "package a\n\nfunc TestN(t *testing.T) { n(other) }\n"}, "^(TestMore|TestN)$"},
		"a function":                    {map[string]string{"a/fast_test.go": fast + "func program() string { return \"\" }\n", "a/n_test.go": "package a\n\nfunc TestN(t *testing.T) { n(program()) }\n"}, "^(TestMore|TestN)$"},
		"a number that nobody uses":     {map[string]string{"a/fast_test.go": fast + "const size = 1\n"}, "^(TestMore)$"},
		"how many inputs":               {map[string]string{"a/fast_test.go": fast + "func init() {\n\tflag.Set(\"rapid.checks\", \"30\")\n}\n"}, "."},
		"how many inputs, and a number": {map[string]string{"a/fast_test.go": fast + "const size = 1\n\nfunc init() { limit = 2 }\n"}, "."},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write := programs(t, dir)
			write(".ci/run", string(script))
			for path, text := range files {
				write(path, text)
			}
			for path, text := range test.files {
				write(path, text)
			}
			write("bin/go", "#!"+bash+"\n"+`[[ $1 == version ]] || printf '%s\n' "$@" >asked`+"\n")
			for _, program := range []string{"strace", "mount", "node"} {
				write("bin/"+program, "#!"+bash+"\n")
			}
			env := []string{"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"), "TMPDIR=" + dir, "HOME=" + dir, "BUDGET=5m"}
			for _, args := range [][]string{{"git", "init", "-q"}, {"git", "add", "a"}, {bash, ".ci/run", "slow"}} {
				cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
				cmd.Dir, cmd.Env = dir, env
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %v\n%s", args, err, out)
				}
			}
			asked, err := os.ReadFile(filepath.Join(dir, "asked"))
			if err != nil {
				t.Fatal(err)
			}
			if _, run, _ := strings.Cut(string(asked), "\n-run\n"); strings.Fields(run)[0] != test.run {
				t.Errorf("the tests that are run: %s, want %s", run, test.run)
			}
		})
	}
}

// TestWhatTheTagSlowChangesIsNamedInTests holds because the section of slow tests looks for the tests in the files that name it: in a
// function that tests of other files call, it would not be found.
func TestWhatTheTagSlowChangesIsNamedInTests(t *testing.T) {
	constraint := regexp.MustCompile(`(?m)^//go:build (.*)$`)
	type file struct {
		path, tags string
		ast        *ast.File
	}
	packages := map[string][]file{}
	for _, root := range []string{"client", "cmd", "internal", "trapezetest"} {
		err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata") {
				return err
			}
			src, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			f := file{path: path}
			if m := constraint.FindSubmatch(src); m != nil {
				f.tags = string(m[1])
			}
			if f.ast, err = parser.ParseFile(token.NewFileSet(), path, src, 0); err != nil {
				return err
			}
			packages[filepath.Dir(path)] = append(packages[filepath.Dir(path)], f)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	found := 0
	for _, files := range packages {
		changed := map[string]bool{}
		for _, f := range files {
			if strings.Contains(f.tags, "!slow") {
				for name := range f.ast.Scope.Objects {
					changed[name] = true
				}
			}
		}
		for _, f := range files {
			if f.tags != "" { // its tests are run, or are not of this section
				continue
			}
			for _, d := range f.ast.Decls {
				function, _ := d.(*ast.FuncDecl)
				ast.Inspect(d, func(n ast.Node) bool {
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
