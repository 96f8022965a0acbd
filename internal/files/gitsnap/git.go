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

// repo is a repository with a working tree, and the options with which git runs no other program.
type repo struct {
	top    string   // the working tree
	safe   []string // options against programs that the configuration could start
	extra  []string // environment of a scratch copy
	format int      // length of object ids in hex
}

// safeOptions are the options of every command. Settings that are "false" or empty here could otherwise run a program or
// access the network.
var safeOptions = []string{
	"--no-pager", "--no-optional-locks", "--literal-pathspecs",
	"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false",
	"-c", "core.pager=cat", "-c", "core.alternateRefsCommand=", "-c", "core.askPass=", "-c", "core.sshCommand=false", "-c", "credential.helper=",
	"-c", "core.protectHFS=true", "-c", "core.protectNTFS=true", "-c", "core.splitIndex=false", "-c", "core.quotePath=true",
	"-c", "diff.submodule=short", "-c", "submodule.recurse=false", "-c", "diff.ignoreSubmodules=all",
	"-c", "protocol.allow=never", "-c", "safe.bareRepository=explicit", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
	"-c", "advice.detachedHead=false", "-c", "apply.whitespace=nowarn", "-c", "apply.ignoreWhitespace=no",
}

// open returns the repository that contains a directory. It refuses bare repositories.
func open(ctx context.Context, dir string) (*repo, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, refusal.New(refusal.Conflict, "install git", "there is no git program here")
	}
	r := &repo{top: dir, safe: safeOptions}
	top, err := r.line(ctx, "rev-parse", "--show-toplevel")
	if err != nil || top == "" {
		return nil, refusal.New(refusal.Invalid, "go into a clone that has files", "%.200q is not in a git working tree", dir).
			With("cause", cause(err))
	}
	if !inside(dir, top) { // core.worktree may point anywhere
		return nil, refusal.New(refusal.Invalid, "go into the working tree", "the working tree of %.200q is elsewhere", dir)
	}
	r.top = top
	if err := r.disableFilters(ctx); err != nil {
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

// disableFilters switches off every filter that is configured anywhere: attributes in the tree choose which of them run.
func (r *repo) disableFilters(ctx context.Context) error {
	out, err := r.run(ctx, nil, maxOutput, "config", "--null", "--name-only", "--get-regexp", `^filter\.`)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return nil // none
	}
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	quiet := append([]string(nil), r.safe...)
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
	r.safe = quiet
	return nil
}

// scratch returns the repository with a temporary index and object directory: commands in it do not change the real ones. The
// index is a copy of the real one if from is empty, otherwise that of a tree.
func (r *repo) scratch(ctx context.Context, tmp, from string) (*repo, error) {
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

// copyIndex copies an index with its time: git compares the content of files that are not older than the index.
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

// quotePath quotes a path that contains the list separator, in the format of git's environment variables.
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

// run runs git and returns its output, at most limit bytes (otherwise errTooMuch).
func (r *repo) run(ctx context.Context, stdin []byte, limit int64, args ...string) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append(append([]string(nil), r.safe...), args...)...) //nolint:gosec // the program is fixed, and arguments from outside are checked
	cmd.Dir = r.top
	cmd.Env = append(environment(os.Environ()), r.extra...)
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.WaitDelay = 5 * time.Second
	out, stderr := &bounded{limit: limit, full: cancel}, &bounded{limit: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, stderr
	err := cmd.Run()
	switch {
	case out.over:
		return nil, errTooMuch
	case err != nil && stderr.kept.Len() > 0:
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, strings.ToValidUTF8(strings.TrimSpace(stderr.kept.String()), "?"))
	case err != nil:
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return out.kept.Bytes(), nil
}

// environment returns the environment of git without the variables meant for git, which could select another repository or
// run a program.
func environment(own []string) []string {
	env := make([]string, 0, len(own)+6)
	for _, v := range own {
		name, _, _ := strings.Cut(v, "=")
		if name = strings.ToUpper(name); strings.HasPrefix(name, "GIT_") || name == "LC_ALL" || name == "LANGUAGE" || name == "SSH_ASKPASS" {
			continue
		}
		env = append(env, v)
	}
	return append(env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1",
		"GIT_NO_REPLACE_OBJECTS=1")
}

// bounded keeps its input up to a limit. Beyond it, it calls full, or drops the rest if full is nil.
type bounded struct {
	kept  bytes.Buffer // not embedded: its ReadFrom would go round the limit
	limit int64
	over  bool
	full  func()
}

func (b *bounded) Write(p []byte) (int, error) {
	free := b.limit - int64(b.kept.Len())
	if int64(len(p)) <= free {
		return b.kept.Write(p)
	}
	b.kept.Write(p[:max(free, 0)])
	b.over = true
	if b.full == nil {
		return len(p), nil
	}
	b.full()
	return 0, io.ErrShortWrite
}
