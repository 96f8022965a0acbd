//go:build slow

package trapeze_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheRunOfChecksEndsWithWhatItPrints runs .ci/run with programs that do nothing, or that fail: the exit status is what decides
// whether a change lands, and it must be that of the table.
func TestTheRunOfChecksEndsWithWhatItPrints(t *testing.T) {
	tests := map[string]struct {
		sections []string
		goCmd    string
		code     int
		last     string
	}{
		"one passes":             {[]string{"vet"}, "exit 0", 0, "sections: 1 passed, 0 failed"},
		"one fails":              {[]string{"vet"}, `[[ $1 != vet ]]`, 1, "sections: 0 passed, 1 failed"},
		"one fails in a test":    {[]string{"test", "vet"}, `echo "--- FAIL: TestX"; [[ $1 != test ]]`, 1, "--- FAIL: TestX\nsections: 1 passed, 1 failed"},
		"with what it prepares":  {[]string{"outside", "vet"}, "exit 0", 0, "sections: 2 passed, 0 failed"},
		"what it prepares fails": {[]string{"outside", "vet"}, `[[ $1 != install ]]`, 1, "sections: 1 passed, 1 failed"},
		"a fuzz target fails":    {[]string{"fuzz"}, `[[ $* != *FuzzB* ]]`, 1, "sections: 0 passed, 1 failed"},
		"fuzz targets":           {[]string{"fuzz"}, `[[ $1 == version || $* == *"-fuzz ^Fuzz"?"$ "*./internal/a ]]`, 0, "sections: 1 passed, 0 failed"},
		"what runs behind":       {[]string{"slow", "compute"}, "exit 0", 0, "sections: 2 passed, 0 failed"},
		"what runs behind fails": {[]string{"slow", "compute"}, `[[ $* != */content/* ]]`, 1, "sections: 1 passed, 1 failed"},
		"fuzz targets behind": {[]string{"slow", "fuzz"}, `case $* in *FuzzB*) touch fuzzed;;
			*server) until [[ -e fuzzed ]]; do sleep 0.01; done;; esac`, 0, "sections: 2 passed, 0 failed"},
		"a fuzz target behind fails": {[]string{"slow", "fuzz"}, `[[ $* != *FuzzB* ]]`, 1, "sections: 1 passed, 1 failed"},
		"what is alone": {[]string{"slow", "outside", "fuzz"}, `case $* in *FuzzA*) echo $$ >behind; until [[ -e alone ]]; do sleep 0.01; done;;
			*server) until [[ -s behind ]]; do sleep 0.01; done;;
			*browser) until [[ $(</proc/$(<behind)/stat) == *") T "* ]]; do sleep 0.01; done; touch alone;; esac`, 0, "sections: 3 passed, 0 failed"},
		"what is alone fails": {[]string{"slow", "outside", "fuzz"}, `[[ $* != *browser ]]`, 1, "sections: 2 passed, 1 failed"},
		"two that wait": {[]string{"postgres", "jetstream"}, `case $* in *natslog*) touch begun;;
			*pglog*) until [[ -e begun ]]; do sleep 0.01; done;; esac`, 0, "sections: 2 passed, 0 failed"},
		"the second of two that wait fails": {[]string{"postgres", "jetstream"}, `[[ $* != *natslog* ]]`, 1, "sections: 1 passed, 1 failed"},
		"the first of two that wait fails":  {[]string{"postgres", "jetstream"}, `[[ $* != *pglog* ]]`, 1, "sections: 1 passed, 1 failed"},
		"no such section":                   {[]string{"all"}, "exit 0", 2, "no section all"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, out := runChecks(t, test.goCmd, test.sections...)
			if code != test.code || !strings.Contains(out, test.last) {
				t.Errorf("exit status %d, want %d and %q in\n%s", code, test.code, test.last, out)
			}
		})
	}
}

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
