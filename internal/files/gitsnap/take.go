package gitsnap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/files/artifact"
)

// Options of taking and applying. The zero value is usable.
type Options struct {
	MaxPatch int64 // bytes of the patch; 0 means [artifact.DefaultMaxSize]
	// Warn is called by [Apply], before it writes anything, with the files that programs run by themselves and that the snapshot brings
	// or changes, if there are any. nil: nobody is warned.
	Warn func([]Runs)
}

func (o Options) maxPatch() int64 {
	if o.MaxPatch == 0 {
		return artifact.DefaultMaxSize
	}
	return o.MaxPatch
}

// Take returns the state of the working tree that contains dir, and the patch to store as an artifact; the patch is empty if
// nothing differs from the commit. It includes staged, unstaged and untracked changes, but not ignored files. Refusals:
// invalid if there is no working tree or it has symbolic links that lead out of it, conflict if there is no commit, too_large,
// unavailable without git. Other errors are those of git.
func Take(ctx context.Context, dir string, o Options) (Snapshot, []byte, error) {
	r, err := open(ctx, dir)
	if err != nil {
		return Snapshot{}, nil, err
	}
	s, err := r.origin(ctx)
	if err != nil {
		return Snapshot{}, nil, err
	}
	tmp, err := os.MkdirTemp("", "gitsnap-")
	if err != nil {
		return Snapshot{}, nil, err
	}
	defer os.RemoveAll(tmp)
	scratch, skipped, err := r.stage(ctx, tmp, true)
	if err != nil {
		return Snapshot{}, nil, err
	}
	s.Skipped = skipped[:min(len(skipped), maxSkipped)]
	s.Dropped = len(skipped) - len(s.Skipped)
	if _, err := scratch.checkChanges(ctx, s.Commit); err != nil {
		return Snapshot{}, nil, err
	}
	if s.Tree, err = scratch.line(ctx, "write-tree"); err != nil {
		return Snapshot{}, nil, err
	}
	patch, err := scratch.run(ctx, nil, o.maxPatch(), append(diffIndex(s.Commit), "--patch", "--binary")...)
	if errors.Is(err, errTooMuch) {
		err = refusal.New(refusal.TooLarge, "commit and push what is finished, ignore what is generated, or hand over [large files as artifacts](artifact put)",
			"the uncommitted changes make a patch of more than %d bytes", o.maxPatch())
	}
	if err != nil {
		return Snapshot{}, nil, err
	}
	if len(patch) > 0 {
		s.Patch, s.Size = artifact.DigestOf(patch), int64(len(patch))
	}
	return s, patch, s.Check()
}

func diffIndex(commit string) []string {
	return []string{
		"diff-index", "--cached", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color",
		"--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=none", commit,
	}
}

// origin returns the commit that is checked out, its branch and its remote.
func (r *repo) origin(ctx context.Context) (Snapshot, error) {
	var s Snapshot
	var err error
	if s.Commit, err = r.line(ctx, "rev-parse", "--verify", "HEAD^{commit}"); err != nil {
		return s, err
	}
	branch := r.branch(ctx)
	if branchName(branch) {
		s.Branch = branch
	}
	remote := "origin"
	if branch != "" {
		if name, err := r.line(ctx, "config", "--get", "branch."+branch+".remote"); err == nil && name != "" && name != "." {
			remote = name
		}
	}
	if address, err := r.line(ctx, "config", "--get", "remote."+remote+".url"); err == nil {
		s.Remote = cleanRemote(address)
	}
	refs, err := r.line(ctx, "for-each-ref", "--count=1", "--format=1", "--contains="+s.Commit, "refs/remotes")
	s.Pushed = err == nil && refs != ""
	return s, nil
}

// branch returns the branch that is checked out; "" if none is, or if it cannot be shown.
func (r *repo) branch(ctx context.Context) string {
	if name, err := r.line(ctx, "symbolic-ref", "--quiet", "--short", "HEAD"); err == nil && plain(name) {
		return name
	}
	return ""
}

// stage updates a copy of the index from the working tree, with untracked files or without them. It returns the paths that it
// skipped.
func (r *repo) stage(ctx context.Context, tmp string, unknown bool) (scratch *repo, skipped []string, err error) {
	if scratch, err = r.scratch(ctx, tmp, ""); err != nil {
		return nil, nil, err
	}
	// This drops files whose time changed but not their content, as in a copied directory. It fails if any file changed.
	_, _ = scratch.run(ctx, nil, maxOutput, "update-index", "-q", "--refresh", "--ignore-submodules")
	changed, err := scratch.list(ctx, "diff-files", "-z", "--name-only", "--no-renames", "--ignore-submodules=all")
	if err != nil {
		return nil, nil, err
	}
	var untracked []string
	if unknown {
		if untracked, err = scratch.list(ctx, "ls-files", "-z", "--others", "--exclude-standard"); err != nil {
			return nil, nil, err
		}
	}
	for _, name := range untracked {
		if strings.HasSuffix(name, "/") { // a repository in the repository
			skipped = append(skipped, strings.ToValidUTF8(name, "?"))
		} else {
			changed = append(changed, name)
		}
	}
	if err := r.checkSizes(changed); err != nil {
		return nil, nil, err
	}
	if len(changed) > 0 {
		names := []byte(strings.Join(changed, "\x00") + "\x00")
		if _, err := scratch.run(ctx, names, maxOutput, "update-index", "-z", "--add", "--remove", "--replace", "--stdin"); err != nil {
			return nil, nil, err
		}
	}
	modules, err := scratch.resetSubmodules(ctx)
	return scratch, append(skipped, modules...), err
}

// checkSizes refuses more than MaxTree bytes, before git reads the files.
func (r *repo) checkSizes(names []string) error {
	var total int64
	for _, name := range names {
		if st, err := os.Lstat(filepath.Join(r.top, name)); err == nil && st.Mode().IsRegular() {
			total += st.Size()
		}
	}
	if total > MaxTree {
		return refusal.New(refusal.TooLarge, "commit and push what is finished, ignore what is generated, or hand over [large files as artifacts](artifact put)",
			"the changed files have %d bytes, the limit is %d", total, MaxTree)
	}
	return nil
}

// resetSubmodules resets every changed submodule to its commit in HEAD, and returns their paths.
func (r *repo) resetSubmodules(ctx context.Context) (paths []string, err error) {
	changes, err := r.changes(ctx, "HEAD")
	if err != nil {
		return nil, err
	}
	var info strings.Builder
	for _, c := range changes {
		if c.oldMode != gitlink && c.newMode != gitlink {
			continue
		}
		if c.oldMode != gitlink && c.oldMode != absent {
			return nil, refusal.New(refusal.Invalid, "commit it first", "%.200q has become a repository of its own", c.path)
		}
		paths = append(paths, strings.ToValidUTF8(c.path, "?"))
		fmt.Fprintf(&info, "%s %s\t%s\x00", c.oldMode, c.oldID, c.path)
	}
	if len(paths) > 0 {
		_, err = r.run(ctx, []byte(info.String()), maxOutput, "update-index", "-z", "--replace", "--index-info")
	}
	return paths, err
}

// change is one path that differs from a commit.
type change struct{ oldMode, newMode, oldID, newID, path string }

const (
	gitlink = "160000"
	symlink = "120000"
	absent  = "000000"
)

// changes lists the differences between a commit and the index.
func (r *repo) changes(ctx context.Context, commit string) ([]change, error) {
	parts, err := r.list(ctx, append(diffIndex(commit), "--raw", "-z")...)
	if err != nil {
		return nil, err
	}
	var out []change
	for i := 0; i+1 < len(parts); i += 2 {
		f := strings.Fields(strings.TrimPrefix(parts[i], ":"))
		if len(f) != 5 {
			return nil, fmt.Errorf("git diff-index: unexpected output %.100q", parts[i])
		}
		out = append(out, change{f[0], f[1], f[2], f[3], parts[i+1]})
	}
	return out, nil
}

// checkChanges returns the changes. It refuses changes that a snapshot must not contain: links out of the tree, and
// submodules.
func (r *repo) checkChanges(ctx context.Context, commit string) ([]change, error) {
	changes, err := r.changes(ctx, commit)
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		if c.newMode == gitlink || c.oldMode == gitlink {
			return nil, refusal.New(refusal.Invalid, "commit changes of submodules", "%.200q is a submodule", c.path)
		}
		if c.newMode != symlink {
			continue
		}
		target, err := r.run(ctx, nil, 1<<20, "cat-file", "blob", c.newID)
		if err != nil {
			return nil, err
		}
		if escapes(c.path, string(target)) {
			return nil, refusal.New(refusal.Invalid, "ignore or remove the link", "the symbolic link %.200q leads out of the working tree", c.path)
		}
	}
	return changes, nil
}
