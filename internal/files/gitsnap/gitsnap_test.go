package gitsnap_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/ruletest"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/files/gitsnap"
)

// clone is a git repository in a test.
type clone struct {
	t   *testing.T
	dir string
}

func (c clone) git(args ...string) string {
	c.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (c clone) write(name, content string) {
	c.t.Helper()
	name = filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

func (c clone) remove(name string) {
	c.t.Helper()
	if err := os.RemoveAll(filepath.Join(c.dir, name)); err != nil {
		c.t.Fatal(err)
	}
}

// files is the working tree: names, kinds and contents.
func (c clone) files() map[string]string {
	c.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(c.dir, func(name string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(c.dir, name)
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == ".git" {
				return filepath.SkipDir
			}
			return err
		}
		if d.Type() == fs.ModeSymlink {
			target, err := os.Readlink(name)
			out[rel] = "link " + target
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		b, err := os.ReadFile(name)
		out[rel] = "file " + string(b)
		if info.Mode()&0o100 != 0 {
			out[rel] = "program " + string(b)
		}
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return out
}

// state is all that a snapshot must not change.
func (c clone) state() string {
	return c.git("--no-optional-locks", "status", "--porcelain=v1", "--branch", "--ignored") + c.git("count-objects", "-v") + c.git("ls-files", "--stage")
}

// origin makes a repository with one commit, and two clones of it.
func origin(t *testing.T) (sender, receiver clone) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // without the user's own ignored files
	t.Setenv("HOME", t.TempDir())
	root := t.TempDir()
	up := clone{t, filepath.Join(root, "up")}
	if err := os.Mkdir(up.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	up.git("init", "-q", "-b", "main")
	up.write("README", "one\ntwo\nthree\n")
	up.write("gone", "to be deleted\n")
	up.write("moved", "to be moved\n"+strings.Repeat("line\n", 20))
	up.write("bin", string(pseudo(3000, 1)))
	up.write("run.sh", "#!/bin/sh\n")
	up.write(".gitignore", "*.log\n")
	up.write("crlf.txt", "a\r\nb\r\n")
	up.git("add", "-A")
	up.git("commit", "-qm", "first")
	sender, receiver = clone{t, filepath.Join(root, "sender")}, clone{t, filepath.Join(root, "receiver")}
	up.git("clone", "-q", up.dir, sender.dir)
	up.git("clone", "-q", up.dir, receiver.dir)
	return sender, receiver
}

// pseudo is some content that does not compress.
func pseudo(n int, seed uint32) []byte {
	b := make([]byte, n)
	for i := range b {
		seed = seed*1664525 + 1013904223
		b[i] = byte(seed >> 24)
	}
	return b
}

func (c clone) take() (gitsnap.Snapshot, []byte) {
	c.t.Helper()
	s, patch, err := gitsnap.Take(c.t.Context(), c.dir, gitsnap.Options{})
	if err != nil {
		c.t.Fatalf("take: %v", err)
	}
	return s, patch
}

func (c clone) apply(s gitsnap.Snapshot, patch []byte) gitsnap.Applied {
	c.t.Helper()
	done, err := gitsnap.Apply(c.t.Context(), c.dir, s, patch, gitsnap.Options{})
	if err != nil {
		c.t.Fatalf("apply: %v\n%s", err, patch)
	}
	return done
}

func TestAnotherCloneGetsTheSameTree(t *testing.T) {
	sender, receiver := origin(t)
	sender.write("README", "one\n2\nthree\nno line end")
	sender.write("staged", "staged\n")
	sender.git("add", "staged")
	sender.write("staged", "staged, then changed\n")
	sender.write("new dir/ünïcode \"quoted\"\tname", "untracked\n")
	sender.write("-dash", "looks like an option\n")
	sender.write("empty", "")
	sender.write("bin", string(pseudo(3000, 1))+"tail")
	sender.write("fresh.bin", string(pseudo(100_000, 2)))
	sender.write("crlf.txt", "a\r\nB\r\n")
	sender.write("forced.log", "ignored, but added\n")
	sender.git("add", "-f", "forced.log")
	sender.write("noise.log", "ignored\n")
	sender.remove("gone")
	sender.git("mv", "moved", "new place")
	if err := os.Chmod(filepath.Join(sender.dir, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("README", filepath.Join(sender.dir, "link")); err != nil {
		t.Fatal(err)
	}
	receiver.write("own.log", "ignored\n")

	before := sender.state()
	s, patch := sender.take()
	if after := sender.state(); after != before {
		t.Errorf("taking changed the repository:\n%s\n---\n%s", before, after)
	}
	if s.Branch != "main" || s.Commit != sender.git("rev-parse", "HEAD") || !s.Pushed || s.Size != int64(len(patch)) || s.Patch != artifact.DigestOf(patch) {
		t.Errorf("%+v", s)
	}
	untouched := receiver.state()
	if err := gitsnap.Try(t.Context(), receiver.dir, s, patch, gitsnap.Options{}); err != nil || receiver.state() != untouched {
		t.Errorf("a trial: %v\n%s", err, receiver.state())
	}
	if done := receiver.apply(s, patch); done.Detached || done.Before != "main" {
		t.Errorf("%+v", done)
	}
	want, got := sender.files(), receiver.files()
	delete(want, "noise.log")
	delete(got, "own.log")
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	again, _ := receiver.take()
	if again.Tree != s.Tree {
		t.Errorf("a snapshot of the copy has tree %s, the first %s", again.Tree, s.Tree)
	}
}

func TestAChangeInTheMomentOfACommitIsNotMissed(t *testing.T) {
	sender, _ := origin(t)
	sender.git("config", "core.trustctime", "false")
	moment := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	at := func(name string) {
		if err := os.Chtimes(filepath.Join(sender.dir, name), moment, moment); err != nil {
			t.Fatal(err)
		}
	}
	sender.write("README", "one\ntwo\nthree\nfour\n")
	at("README")
	sender.git("commit", "-qam", "second")
	sender.write("README", "one\ntwo\nthree\nFOUR\n")
	at("README")
	at(".git/index")
	if _, patch := sender.take(); !strings.Contains(string(patch), "+FOUR") {
		t.Errorf("took %q", patch)
	}
}

func TestACleanTreeIsACommitWithoutAPatch(t *testing.T) {
	sender, receiver := origin(t)
	sender.write("README", "committed\n")
	sender.git("commit", "-qam", "second")
	s, patch := sender.take()
	if len(patch) != 0 || s.Patch != "" || s.Pushed {
		t.Fatalf("%+v", s)
	}
	ruletest.Refused(t, gitsnap.Try(t.Context(), receiver.dir, s, patch, gitsnap.Options{}), refusal.NotFound)
	_, err := gitsnap.Apply(t.Context(), receiver.dir, s, patch, gitsnap.Options{})
	if r := ruletest.Refused(t, err, refusal.NotFound); !strings.Contains(r.Hint, "pushed") {
		t.Errorf("hint %q", r.Hint)
	}
	receiver.git("fetch", "-q", sender.dir, "main")
	if done := receiver.apply(s, patch); !done.Detached || done.Before != "main" {
		t.Errorf("%+v", done)
	}
	if !reflect.DeepEqual(receiver.files(), sender.files()) || receiver.git("status", "--porcelain") != "" {
		t.Error("the trees differ")
	}
}

func TestAWorkingTreeWithChangesOfItsOwnIsLeftAlone(t *testing.T) {
	sender, receiver := origin(t)
	sender.write("README", "changed\n")
	sender.write("new.txt", "new\n")
	s, patch := sender.take()

	receiver.write("mine.txt", "mine\n")
	_, err := gitsnap.Apply(t.Context(), receiver.dir, s, patch, gitsnap.Options{})
	ruletest.Refused(t, err, refusal.Conflict)
	ruletest.Refused(t, gitsnap.Try(t.Context(), receiver.dir, s, patch, gitsnap.Options{}), refusal.Conflict)
	receiver.remove("mine.txt")

	receiver.write(".git/info/exclude", "new.txt\n")
	receiver.write("new.txt", "mine, and ignored\n")
	before := receiver.files()
	_, err = gitsnap.Apply(t.Context(), receiver.dir, s, patch, gitsnap.Options{})
	ruletest.Refused(t, err, refusal.Conflict)
	if !reflect.DeepEqual(receiver.files(), before) {
		t.Errorf("%q", receiver.files())
	}
}

// TestNothingThatIsConfiguredRuns plants a program in every place from which git would start one.
func TestNothingThatIsConfiguredRuns(t *testing.T) {
	sender, receiver := origin(t)
	trap := filepath.Join(t.TempDir(), "trap.sh")
	sprung := trap + ".sprung"
	if err := os.WriteFile(trap, []byte("#!/bin/sh\necho \"$0 $*\" >> "+sprung+"\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	attributes := "* filter=evil diff=evil merge=evil\n*.bin filter=worse.name\n"
	for _, c := range []clone{sender, receiver} {
		for _, key := range []string{
			"filter.evil.clean", "filter.evil.smudge", "filter.worse.name.process", "diff.external", "diff.evil.command", "diff.evil.textconv",
			"core.fsmonitor", "core.pager", "core.sshCommand", "merge.evil.driver", "core.alternateRefsCommand", "credential.helper", "core.editor",
		} {
			c.git("config", key, trap)
		}
		c.git("config", "filter.evil.required", "true")
		c.write(".git/info/attributes", attributes)
		for _, hook := range []string{"post-checkout", "post-index-change", "pre-commit", "post-applypatch", "fsmonitor-watchman", "reference-transaction"} {
			c.write(".git/hooks/"+hook, "#!/bin/sh\n"+trap+"\n")
			if err := os.Chmod(filepath.Join(c.dir, ".git", "hooks", hook), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{"GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_SSH_COMMAND", "GIT_EDITOR", "GIT_ASKPASS"} {
		t.Setenv(name, trap)
	}
	sender.write("README", "changed\n")
	sender.write("new.bin", string(pseudo(500, 3)))
	sender.write(".gitattributes", attributes)
	sender.git("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "filter.evil.clean=cat", "-c", "filter.worse.name.process=", "commit", "-qm", "more", "--allow-empty")
	receiver.git("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "filter.evil.clean=cat", "-c", "filter.worse.name.process=", "fetch", "-q", sender.dir)
	if err := os.RemoveAll(sprung); err != nil {
		t.Fatal(err)
	}
	s, patch := sender.take()
	receiver.apply(s, patch)
	if out, err := os.ReadFile(sprung); err == nil {
		t.Errorf("something ran:\n%s", out)
	}
	if !reflect.DeepEqual(receiver.files(), sender.files()) {
		t.Errorf("got %q\nwant %q", receiver.files(), sender.files())
	}
	// The trap works: git on its own steps into it.
	cmd := exec.Command("git", "add", "-A")
	cmd.Dir = sender.dir
	_ = cmd.Run()
	if _, err := os.Stat(sprung); err != nil {
		t.Error("the trap does not work, so this test shows nothing")
	}
}

func TestTheEnvironmentDoesNotPointElsewhere(t *testing.T) {
	sender, other := origin(t)
	other.write("README", "another repository\n")
	t.Setenv("GIT_DIR", filepath.Join(other.dir, ".git"))
	t.Setenv("GIT_WORK_TREE", other.dir)
	t.Setenv("GIT_INDEX_FILE", filepath.Join(t.TempDir(), "index"))
	if s, patch := sender.take(); s.Size != 0 {
		t.Errorf("took %s", patch)
	}
}

func TestSubmodulesAndNestedRepositoriesAreNotFollowed(t *testing.T) {
	sender, receiver := origin(t)
	sub, _ := origin(t)
	sender.git("submodule", "--quiet", "add", sub.dir, "module")
	sender.git("commit", "-qm", "with a module")
	receiver.git("pull", "-q", sender.dir, "main")
	module := clone{t, filepath.Join(sender.dir, "module")}
	module.write("README", "new in the module\n")
	module.git("commit", "-qam", "inside")
	nested := clone{t, filepath.Join(sender.dir, "nested")}
	if err := os.Mkdir(nested.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	nested.git("init", "-q")
	nested.write("secret", "secret\n")
	nested.git("add", "-A")
	nested.git("commit", "-qm", "x")
	sender.write("README", "changed\n")
	sender.git("add", "module")

	s, patch := sender.take()
	if !reflect.DeepEqual(s.Skipped, []string{"nested/", "module"}) || strings.Contains(string(patch), "module") || strings.Contains(string(patch), "secret") {
		t.Errorf("%+v\n%s", s, patch)
	}
	receiver.apply(s, patch)
	if got := receiver.files()["README"]; got != "file changed\n" {
		t.Errorf("README is %q", got)
	}
}

func TestWhatCannotBeTakenIsRefused(t *testing.T) {
	sender, _ := origin(t)
	empty := clone{t, t.TempDir()}
	take := func(dir string, o gitsnap.Options) error {
		_, _, err := gitsnap.Take(t.Context(), dir, o)
		return err
	}
	ruletest.Refused(t, take(empty.dir, gitsnap.Options{}), refusal.Invalid)
	ruletest.Refused(t, take(filepath.Join(sender.dir, ".git"), gitsnap.Options{}), refusal.Invalid)
	empty.git("init", "-q")
	ruletest.Refused(t, take(empty.dir, gitsnap.Options{}), refusal.Conflict)

	sender.write("big", string(pseudo(10_000, 4)))
	ruletest.Refused(t, take(sender.dir, gitsnap.Options{MaxPatch: 5000}), refusal.TooLarge)
	if err := os.Truncate(filepath.Join(sender.dir, "big"), gitsnap.MaxTree+1); err != nil { // sparse
		t.Fatal(err)
	}
	ruletest.Refused(t, take(sender.dir, gitsnap.Options{}), refusal.TooLarge)
	sender.remove("big")

	for _, target := range []string{"/etc/passwd", "../outside", "a/../../outside", ".git/config"} {
		if err := os.Symlink(target, filepath.Join(sender.dir, "link")); err != nil {
			t.Fatal(err)
		}
		ruletest.Refused(t, take(sender.dir, gitsnap.Options{}), refusal.Invalid)
		sender.remove("link")
	}
	sender.git("config", "core.worktree", t.TempDir())
	ruletest.Refused(t, take(sender.dir, gitsnap.Options{}), refusal.Invalid)
}

func TestAHostilePatchIsRefusedAndChangesNothing(t *testing.T) {
	sender, receiver := origin(t)
	sender.write("README", "changed\n")
	good, patch := sender.take()
	outside := filepath.Join(filepath.Dir(receiver.dir), "evil")
	file := func(name string) string {
		return "diff --git a/" + name + " b/" + name + "\nnew file mode 100644\n--- /dev/null\n+++ b/" + name + "\n@@ -0,0 +1 @@\n+evil\n"
	}
	link := func(name, target string) string {
		return "diff --git a/" + name + " b/" + name + "\nnew file mode 120000\n--- /dev/null\n+++ b/" + name + "\n@@ -0,0 +1 @@\n+" + target + "\n\\ No newline at end of file\n"
	}
	for name, evil := range map[string]string{
		"a path outside":              file("../evil"),
		"an absolute path":            strings.ReplaceAll(file("evil"), "b/evil", outside),
		"into .git":                   file(".git/hooks/post-checkout"),
		"into .GIT":                   file("x/.GIT/config"),
		"a link out":                  link("l", "../.."),
		"an absolute link":            link("l", "/tmp"),
		"through a link":              link("l", "..") + file("l/evil"),
		"a link into .git":            link("l", ".git/hooks"),
		"a submodule":                 "diff --git a/m b/m\nnew file mode 160000\n--- /dev/null\n+++ b/m\n@@ -0,0 +1 @@\n+Subproject commit " + good.Commit + "\n",
		"another tree than promised":  file("evil"),
		"no patch at all":             "hello",
		"something that does not fit": strings.ReplaceAll(string(patch), "-one", "-uno"),
	} {
		t.Run(name, func(t *testing.T) {
			s := good
			s.Patch, s.Size = artifact.DigestOf([]byte(evil)), int64(len(evil))
			before := receiver.state()
			_, err := gitsnap.Apply(t.Context(), receiver.dir, s, []byte(evil), gitsnap.Options{})
			ruletest.Refused(t, err, refusal.Invalid)
			if after := receiver.state(); after != before {
				t.Errorf("changed:\n%s\n---\n%s", before, after)
			}
			if _, err := os.Lstat(outside); err == nil {
				t.Error("a file outside was written")
			}
		})
	}
	_, err := gitsnap.Apply(t.Context(), receiver.dir, good, patch[1:], gitsnap.Options{})
	ruletest.Refused(t, err, refusal.Invalid)
	_, err = gitsnap.Apply(t.Context(), receiver.dir, good, patch, gitsnap.Options{MaxPatch: 10})
	ruletest.Refused(t, err, refusal.TooLarge)
	receiver.apply(good, patch)
}

func TestTheDocumentComesBackAsItWasWritten(t *testing.T) {
	sender, _ := origin(t)
	sender.write("new", "x\n")
	s, _ := sender.take()
	doc, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	back, err := gitsnap.Parse(doc)
	if err != nil || !reflect.DeepEqual(back, s) {
		t.Errorf("%s\n%+v\n%+v, %v", doc, s, back, err)
	}
	for _, bad := range []string{
		"", "{}", "null", string(doc) + "x", strings.Repeat(" ", gitsnap.MaxDocument+1),
		strings.Replace(string(doc), s.Commit, "--upload-pack=evil", 1),
		strings.Replace(string(doc), s.Commit, "HEAD", 1),
		strings.Replace(string(doc), `"main"`, `"--orphan"`, 1),
		strings.Replace(string(doc), `"branch"`, `"remote":"ext::sh -c evil","branch"`, 1),
		strings.Replace(string(doc), `"branch"`, `"remote":"https://user:secret@example.com/x","branch"`, 1),
		strings.Replace(string(doc), `"main"`, `"main;touch${IFS}x"`, 1),
		strings.Replace(string(doc), `"main"`, `"$(touch x)"`, 1),
		strings.Replace(string(doc), `"branch"`, `"remote":"https://example.com/$(touch)","branch"`, 1),
		strings.Replace(string(doc), `"branch"`, `"remote":"ssh://-oProxyCommand=touch/x","branch"`, 1),
		strings.Replace(string(doc), `"size":`, `"size":-`, 1),
	} {
		if _, err := gitsnap.Parse([]byte(bad)); err == nil {
			t.Errorf("%.100s is taken", bad)
		}
	}
}
