//go:build slow || outside

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/freeaddr"
)

// TestMain makes this test binary the program itself when it is called by its name, so that nothing has to be built.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == name {
		main()
	}
	os.Exit(m.Run())
}

// name is the name of the program.
const name = "trapeze"

// root is the directory of the README.
var root = filepath.Join("..", "..")

// TestReadmeCommands runs every command of the README, in order, in one shell, with the program of this tree. Commands that do
// not end by themselves run in the background.
//
// The demo waits for ten seconds on purpose: it is run here without the race detector only, and by a story of internal/cli.
func TestReadmeCommands(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the README's commands are for a shell")
	}
	bin, home := t.TempDir(), t.TempDir()
	install(t, bin)
	script := readmeScript(t, withDemo)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home,
		"PROJECT="+t.TempDir(), "TRAPEZE_DATA="+filepath.Join(home, "data"), "TRAPEZE_URL=http://"+freeaddr.New(t, 1)[0], "TRAPEZE_TOKEN=", "TRAPEZE_AGENT=")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, out.Bytes())
	}
	for _, want := range []string{"handoff-complete", "SAY HELLO", "fixed"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output does not have %q:\n%s", want, out.Bytes())
		}
	}
}

// install puts this test binary into a directory under the program's name.
func install(t *testing.T, dir string) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, name)
	if os.Link(self, to) == nil {
		return
	}
	b, err := os.ReadFile(self) // on another disk
	if err == nil {
		err = os.WriteFile(to, b, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func readme(t *testing.T) string {
	b, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// readmeScript returns the README's commands, and that of the demo if it is wanted, as one script. It stops at the first that fails, and ends its background
// programs.
func readmeScript(t *testing.T, demo bool) string {
	var s strings.Builder
	s.WriteString("set -e\npids=\ntrap 'rc=$?; kill $pids; wait; exit $rc' EXIT\n")
	count := 0
	for line := range strings.Lines(readme(t)) {
		command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ ")
		if !ok {
			continue
		}
		count++
		switch {
		case command == "go test ./...", command == "go install ./cmd/trapeze":
			// This test is part of the former, and the binary replaces the latter.
		case command == "go run ./cmd/trapeze demo" && !demo:
			// The story demo of internal/cli runs it, too, and checks what the README shows of it.
		case command == "go run ./cmd/trapeze serve":
			s.WriteString("trapeze serve --addr ${TRAPEZE_URL#http://} & pids=\"$pids $!\"\n" + untilReady)
		case strings.HasPrefix(command, "trapeze init "), command == "trapeze doctor":
			s.WriteString("(cd \"$PROJECT\" && " + command + ")\n") // it writes to the current project
		case strings.HasPrefix(command, "trapeze work "):
			s.WriteString(command + " & pids=\"$pids $!\"\nuntil trapeze agent show loud >/dev/null 2>&1; do sleep 0.1; done\n")
		default:
			s.WriteString(strings.Replace(command, "go run ./cmd/trapeze", "trapeze", 1) + "\n")
		}
	}
	if count < 10 {
		t.Fatalf("only %d commands found in the README", count)
	}
	s.WriteString("until trapeze task list --state completed | grep -q 'say hello'; do sleep 0.1; done\n" +
		"for id in $(trapeze task list --state completed --quiet); do trapeze task show $id; done\n")
	return s.String()
}

const untilReady = "until trapeze agent list >/dev/null 2>&1; do sleep 0.1; done\n"
