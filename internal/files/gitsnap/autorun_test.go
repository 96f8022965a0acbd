package gitsnap_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/trapezehq/trapeze/internal/files/gitsnap"
)

func TestFilesThatProgramsRunByThemselvesAreNamedBeforeTheyAreWritten(t *testing.T) {
	sender, receiver := origin(t)
	risky := []string{
		".claude/settings.json", ".envrc", ".githooks/pre-commit", ".github/workflows/ci.yml", ".gitmodules", ".husky/pre-push", ".mcp.json",
		".vscode/tasks.json", "AGENTS.md", "CLAUDE.local.md", "GNUmakefile", "Makefile", "opencode.json", "package.json", "rust-toolchain.toml", "sub/.Claude/hooks.json", "sub/.Rprofile", "sub/.config/mise/config.toml",
		"sub/.devcontainer.json", "sub/.envrc", "sub/.gdbinit", "sub/.github/copilot-instructions.md", "sub/.helix/languages.toml", "sub/.mvn/extensions.xml",
		"sub/.opencode/plugin/x.ts", "sub/.pdbrc", "sub/.yarn/releases/yarn.cjs", "sub/eslint.config.js",
		"sub/hooks/post-checkout", "sub/rules.mk", "sub/usercustomize.py", "team.code-workspace",
	}
	for _, name := range risky[:8] { // in the commit
		sender.write(name, "x\n")
	}
	sender.git("add", "--all", "--force")
	sender.git("commit", "-q", "-m", "risky")
	receiver.git("fetch", "-q", sender.dir, "HEAD")
	for _, name := range risky[8:] { // in the patch
		sender.write(name, "x\n")
	}
	for _, name := range []string{"main.go", "docs/hooks.md", "src/hooks/use.ts", "claude/x", "vscode/tasks.json", "envrc"} {
		sender.write(name, "x\n")
	}
	s, patch := sender.take()
	var warned []string
	done, err := gitsnap.Apply(t.Context(), receiver.dir, s, patch, gitsnap.Options{Warn: func(list []gitsnap.Runs) {
		for _, x := range list {
			if x.By == "" {
				t.Errorf("%s is run by nobody", x.Path)
			}
			if _, err := os.Lstat(filepath.Join(receiver.dir, x.Path)); err == nil {
				t.Errorf("%s is written already", x.Path)
			}
			warned = append(warned, x.Path)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(warned, risky) || len(done.Runs) != len(risky) {
		t.Errorf("warned of %q\nwant      %q\nreported  %v", warned, risky, done.Runs)
	}
	if !maps.Equal(sender.files(), receiver.files()) {
		t.Error("the trees differ")
	}
	again := false
	receiver.git("add", "--all", "--force")
	receiver.git("stash", "-q")
	receiver.git("checkout", "-q", s.Commit)
	warn := func(list []gitsnap.Runs) { again = len(list) == len(risky)-8 }
	if _, err := gitsnap.Apply(t.Context(), receiver.dir, s, patch, gitsnap.Options{Warn: warn}); err != nil || !again {
		t.Errorf("with the commit there already: warned of what the patch brings %t, %v", again, err)
	}
}

func TestAnOrdinarySnapshotWarnsOfNothing(t *testing.T) {
	sender, receiver := origin(t)
	sender.write("README", "one\n2\nthree\n")
	sender.write("main.go", "package main\n")
	s, patch := sender.take()
	warn := func(list []gitsnap.Runs) { t.Errorf("warned of %v", list) }
	if _, err := gitsnap.Apply(t.Context(), receiver.dir, s, patch, gitsnap.Options{Warn: warn}); err != nil {
		t.Error(err)
	}
}
