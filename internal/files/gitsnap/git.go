package gitsnap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// maxOutput bounds what is read of a git command that lists something.
const maxOutput = 64 << 20

var errTooMuch = errors.New("the output is too large")

// repo is a repository with a working tree, and how to run git there so that nothing else runs.
type repo struct {
	top    string   // the working tree
	quiet  []string // options that switch off what configuration could start
	extra  []string // environment of a copy of the index, if there is one
	format int      // length of object ids in hex
}

// always are the options that every command gets. What is "false" or empty here runs a program, or reaches out, where
// it is configured.
var always = []string{
	"--no-pager", "--no-optional-locks", "--literal-pathspecs",
	"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false",
	"-c", "core.pager=cat", "-c", "core.alternateRefsCommand=", "-c", "core.askPass=", "-c", "core.sshCommand=false", "-c", "credential.helper=",
	"-c", "core.protectHFS=true", "-c", "core.protectNTFS=true", "-c", "core.splitIndex=false", "-c", "core.quotePath=true",
	"-c", "diff.submodule=short", "-c", "submodule.recurse=false", "-c", "diff.ignoreSubmodules=all",
	"-c", "protocol.allow=never", "-c", "safe.bareRepository=explicit", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
	"-c", "advice.detachedHead=false", "-c", "apply.whitespace=nowarn", "-c", "apply.ignoreWhitespace=no",
}

// open finds the repository that a directory is in. It refuses what is none, and bare ones.
func open(ctx context.Context, dir string) (*repo, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, refusal.New(refusal.Unavailable, "install git", "there is no git program here")
	}
	r := &repo{top: dir, quiet: always}
	top, err := r.line(ctx, "rev-parse", "--show-toplevel")
	if err != nil || top == "" {
		return nil, refusal.New(refusal.Invalid, "go into a clone that has files", "%.200q is not in a git working tree", dir).
			With("cause", cause(err))
	}
	if !inside(dir, top) { // core.worktree may say anything
		return nil, refusal.New(refusal.Invalid, "go into the working tree", "the working tree of %.200q is elsewhere", dir)
	}
	r.top = top
	if err := r.disarm(ctx); err != nil {
		return nil, err
	}
	head, err := r.line(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		return nil, refusal.New(refusal.Conflict, "commit something first", "the repository has no commit yet")
	}
	r.format = len(head)
	return r, nil
}

// inside reports whether a directory is top or below it.
func inside(dir, top string) bool {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return false
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return false
	}
	if top, err = filepath.EvalSymlinks(top); err != nil {
		return false
	}
	rel, err := filepath.Rel(top, abs)
	return err == nil && filepath.IsLocal(rel)
}

func cause(err error) string {
	if err == nil {
		return ""
	}
	return refusal.Clip(err.Error(), 300)
}

// disarm switches off every filter that is configured anywhere: attributes in the tree choose which of them run.
func (r *repo) disarm(ctx context.Context) error {
	out, err := r.run(ctx, nil, maxOutput, "config", "--null", "--name-only", "--get-regexp", `^filter\.`)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return nil // none
	}
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	quiet := append([]string(nil), r.quiet...)
	for key := range strings.SplitSeq(string(out), "\x00") {
		i := strings.LastIndexByte(key, '.')
		if i < 0 || seen[key[:i]] {
			continue
		}
		name := key[:i]
		seen[name] = true
		if strings.Contains(name, "=") {
			return refusal.New(refusal.Invalid, "rename or remove it", "the filter %.80q of the git configuration cannot be switched off", name)
		}
		quiet = append(quiet, "-c", name+".clean=", "-c", name+".smudge=", "-c", name+".process=", "-c", name+".required=false")
	}
	r.quiet = quiet
	return nil
}

// aside is the repository with an index and objects of its own in a temporary directory: whatever is done with it
// leaves the real ones alone. Its index starts as a copy of the real one, if from is empty, or as a tree.
func (r *repo) aside(ctx context.Context, tmp, from string) (*repo, error) {
	objects, err := r.line(ctx, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return nil, err
	}
	index, err := r.line(ctx, "rev-parse", "--path-format=absolute", "--git-path", "index")
	if err != nil {
		return nil, err
	}
	own := filepath.Join(tmp, "objects")
	if err := os.MkdirAll(own, 0o700); err != nil {
		return nil, err
	}
	copied := filepath.Join(tmp, "index")
	c := *r
	c.extra = []string{"GIT_INDEX_FILE=" + copied, "GIT_OBJECT_DIRECTORY=" + own, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + quotePath(objects)}
	if from == "" {
		err := copyIndex(index, copied)
		if !errors.Is(err, os.ErrNotExist) {
			return &c, err
		}
		from = "HEAD" // a clone without files
	}
	_, err = c.run(ctx, nil, maxOutput, "read-tree", from)
	return &c, err
}

// copyIndex copies an index with its time: git looks closer at files that changed in the moment it was written.
func copyIndex(from, to string) error {
	st, err := os.Stat(from)
	if err != nil {
		return err
	}
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, b, 0o600); err != nil {
		return err
	}
	return os.Chtimes(to, st.ModTime(), st.ModTime())
}

// quotePath keeps a path with the separator of lists in one piece, as git's environment wants it.
func quotePath(p string) string {
	if !strings.ContainsAny(p, "\":\n") {
		return p
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(p) + `"`
}

// line runs git and returns the one line that it prints.
func (r *repo) line(ctx context.Context, args ...string) (string, error) {
	out, err := r.run(ctx, nil, maxOutput, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// list runs git and returns the strings, ended by NUL, that it prints.
func (r *repo) list(ctx context.Context, args ...string) ([]string, error) {
	out, err := r.run(ctx, nil, maxOutput, args...)
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), nil
}

// run runs git and returns what it prints, at most limit bytes (else errTooMuch).
func (r *repo) run(ctx context.Context, stdin []byte, limit int64, args ...string) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append(append([]string(nil), r.quiet...), args...)...) //nolint:gosec // the program is fixed, and arguments from outside are checked
	cmd.Dir = r.top
	cmd.Env = append(environment(os.Environ()), r.extra...)
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.WaitDelay = 5 * time.Second
	out, said := &bounded{limit: limit, full: cancel}, &bounded{limit: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, said
	err := cmd.Run()
	switch {
	case out.over:
		return nil, errTooMuch
	case err != nil && said.kept.Len() > 0:
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, strings.ToValidUTF8(strings.TrimSpace(said.kept.String()), "?"))
	case err != nil:
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return out.kept.Bytes(), nil
}

// environment is what git may know of ours: nothing that is meant for git, since that could point it at another
// repository or make it run something.
func environment(ours []string) []string {
	env := make([]string, 0, len(ours)+6)
	for _, v := range ours {
		name, _, _ := strings.Cut(v, "=")
		if name = strings.ToUpper(name); strings.HasPrefix(name, "GIT_") || name == "LC_ALL" || name == "LANGUAGE" || name == "SSH_ASKPASS" {
			continue
		}
		env = append(env, v)
	}
	return append(env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1",
		"GIT_NO_REPLACE_OBJECTS=1")
}

// bounded keeps what is written up to a limit. Beyond it, full is called, or the rest is dropped if there is none.
type bounded struct {
	kept  bytes.Buffer // not embedded: its ReadFrom would go round the limit
	limit int64
	over  bool
	full  func()
}

func (b *bounded) Write(p []byte) (int, error) {
	room := b.limit - int64(b.kept.Len())
	if int64(len(p)) <= room {
		return b.kept.Write(p)
	}
	b.kept.Write(p[:max(room, 0)])
	b.over = true
	if b.full == nil {
		return len(p), nil
	}
	b.full()
	return 0, io.ErrShortWrite
}
