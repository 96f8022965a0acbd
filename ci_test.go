package trapeze_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheRunOfChecksEndsWithWhatItPrints runs .ci/run with programs that do nothing, or that fail: the exit status is what decides
// whether a change lands, and it must be that of the table.
func TestTheRunOfChecksEndsWithWhatItPrints(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	script, err := os.ReadFile(".ci/run")
	if err != nil {
		t.Fatal(err)
	}
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
			dir := t.TempDir()
			write := programs(t, dir)
			write(".ci/run", string(script))
			write("bin/go", "#!"+bash+"\n"+test.goCmd+"\n")
			write("bin/git", "#!"+bash+"\ncase $* in *-l*) echo internal/content/x/x_slow_test.go internal/server/x_slow_test.go;; *-oE*) echo 'internal/a/a_test.go:func FuzzA('; echo 'internal/a/a_test.go:func FuzzB(';; esac\n")
			// renice, too: what runs behind gets no time on a machine that is busy otherwise, and sections wait for it.
			for _, program := range []string{"strace", "mount", "node", "npm", "promtool", "chromium", "python3", "ssh-agent", "initdb", "renice"} {
				write("bin/"+program, "#!"+bash+"\n")
			}
			for _, suite := range []string{"api/mcpapi/outside", "api/httpapi/outside", "cli/outside", "api/webpage/browser"} {
				write("internal/"+suite+"/testdata/venv/bin/pip", "#!"+bash+"\n")
				write("internal/"+suite+"/testdata/venv_mcp2/bin/pip", "#!"+bash+"\n")
			}
			cmd := exec.CommandContext(t.Context(), bash, append([]string{filepath.Join(dir, ".ci", "run")}, test.sections...)...)
			cmd.Env = []string{"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"), "TMPDIR=" + dir, "BUDGET=5m"}
			out, err := cmd.CombinedOutput()
			code := 0
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
				code = exit.ExitCode()
			} else if err != nil {
				t.Fatal(err)
			}
			if code != test.code || !strings.Contains(string(out), test.last) {
				t.Errorf("exit status %d, want %d and %q in\n%s", code, test.code, test.last, out)
			}
		})
	}
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
