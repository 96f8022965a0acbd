//go:build outside

package outside

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// patience is how long a program of others may take before it counts as hung.
const patience = 4 * time.Minute

// node is a program that npm has installed, or a script of ours in testdata, to be run by the Node that is installed there too.
func node(t testing.TB, path string, args ...string) *exec.Cmd {
	t.Helper()
	modules, err := filepath.Abs(filepath.Join("testdata", "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(modules); err != nil {
		t.Fatal("nothing is installed: run `npm ci` in testdata, or .ci/run outside")
	}
	if !strings.HasSuffix(path, ".mjs") {
		path = filepath.Join(modules, ".bin", path)
	} else {
		path = filepath.Join(filepath.Dir(modules), path)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, filepath.Join(modules, ".bin", "node"), append([]string{path}, args...)...)
	cmd.Dir = t.TempDir() // some leave files behind
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	return cmd
}

// run runs a program to its end, and fails the test if it fails.
func run(t testing.TB, cmd *exec.Cmd) string {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			t.Fatal(err)
		}
		t.Fatalf("%s: %v\n%s\n%s", strings.Join(cmd.Args[1:], " "), err, tail(out.String()), tail(errs.String()))
	}
	return out.String()
}

// tail is the end of what a program has said.
func tail(s string) string { return s[max(0, len(s)-6000):] }
