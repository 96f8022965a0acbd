package gitsnap

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
	"github.com/trapezehq/trapeze/internal/files/artifact"
)

// Applied is the result of Apply.
type Applied struct {
	// Detached: the commit of the snapshot was checked out without a branch, because another commit was checked out.
	Detached bool
	// Before is the branch, or else the commit, that was checked out before.
	Before string
	// Runs are the files that programs run by themselves, which the snapshot brings or changes.
	Runs []Runs
}

// Apply makes the working tree that contains dir equal to that of the snapshot. The changes are unstaged, and new files are
// added with intent to add. Refusals: invalid for a patch that is not that of the snapshot or makes forbidden changes,
// conflict for a working tree that is not clean or in which ignored files are in the way, not_found for a commit that the
// clone does not have, too_large, unavailable without git. After a refusal the working tree is unchanged.
func Apply(ctx context.Context, dir string, s Snapshot, patch []byte, o Options) (Applied, error) {
	r, ready, err := try(ctx, dir, s, patch, o)
	if err != nil {
		return Applied{}, err
	}
	if o.Warn != nil && len(ready.runs) > 0 {
		o.Warn(ready.runs)
	}
	done, err := r.checkout(ctx, s)
	if err != nil {
		return Applied{}, err
	}
	done.Runs = ready.runs
	if len(patch) > 0 {
		if _, err := r.run(ctx, patch, maxOutput, "apply", "--binary", "--whitespace=nowarn", "-"); err != nil {
			if done.Detached {
				_, _ = r.run(ctx, nil, maxOutput, "checkout", "--quiet", done.Before, "--") // undo
			}
			return Applied{}, refusal.New(refusal.Conflict, "move away the files that are in the way; ignored ones count too",
				"the patch does not fit the working tree").With("cause", cause(err))
		}
	}
	if len(ready.added) > 0 { // git apply can do it, but older versions damage the index
		names := []byte(strings.Join(ready.added, "\x00") + "\x00")
		if _, err := r.run(ctx, names, maxOutput, "add", "--intent-to-add", "--force", "--pathspec-from-file=-", "--pathspec-file-nul"); err != nil {
			return Applied{}, err
		}
	}
	return done, r.verify(ctx, s)
}

// Try makes the checks of [Apply] without changing anything.
func Try(ctx context.Context, dir string, s Snapshot, patch []byte, o Options) error {
	_, _, err := try(ctx, dir, s, patch, o)
	return err
}

// rehearsal is what a snapshot will change: the files that its patch adds, and those that programs run by themselves.
type rehearsal struct {
	added []string
	runs  []Runs
}

// try applies the patch to a temporary index, and returns the repository and what the snapshot will change.
func try(ctx context.Context, dir string, s Snapshot, patch []byte, o Options) (r *repo, x rehearsal, err error) {
	if err := checkPatch(s, patch, o); err != nil {
		return nil, x, err
	}
	if r, err = open(ctx, dir); err != nil {
		return nil, x, err
	}
	if err := r.ready(ctx, s); err != nil {
		return nil, x, err
	}
	tmp, err := os.MkdirTemp("", "gitsnap-")
	if err != nil {
		return nil, x, err
	}
	defer os.RemoveAll(tmp)
	x, err = r.rehearse(ctx, tmp, s, patch)
	return r, x, err
}

func checkPatch(s Snapshot, patch []byte, o Options) error {
	if err := s.Check(); err != nil {
		return err
	}
	switch {
	case s.Size > o.maxPatch() || int64(len(patch)) > o.maxPatch():
		return refusal.New(refusal.TooLarge, "fetch the changes by git", "the patch has more than %d bytes", o.maxPatch())
	case s.Size != int64(len(patch)) || s.Patch != "" && artifact.DigestOf(patch) != s.Patch:
		return refusal.New(refusal.Invalid, "get the artifact that the snapshot names", "the patch is not that of the snapshot")
	}
	return checkUnpackedSize(patch)
}

// ready refuses a clone to which the snapshot cannot be applied.
func (r *repo) ready(ctx context.Context, s Snapshot) error {
	if len(s.Commit) != r.format {
		return refusal.New(refusal.Conflict, "use a clone of the same repository", "the snapshot's ids are of another kind than the clone's")
	}
	if _, err := r.run(ctx, nil, maxOutput, "cat-file", "-e", s.Commit+"^{commit}"); err != nil {
		hint := "fetch it"
		if s.Remote != "" {
			hint = shellword.Command("git fetch --", s.Remote)
			if s.Branch != "" {
				hint += " " + shellword.Quote(s.Branch)
			}
		}
		if !s.Pushed {
			hint += "; it had not been pushed when the snapshot was taken"
		}
		return refusal.New(refusal.NotFound, hint, "the clone does not have commit %s", s.Commit)
	}
	changed, err := r.run(ctx, nil, maxOutput, "status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=all", "--no-renames")
	if err != nil {
		return err
	}
	if len(changed) > 0 {
		return refusal.New(refusal.Conflict, "commit or stash your changes, or use a fresh clone", "the working tree has changes of its own")
	}
	return nil
}

// rehearse applies the patch to a temporary index, and refuses it unless the result is the tree of the snapshot.
func (r *repo) rehearse(ctx context.Context, tmp string, s Snapshot, patch []byte) (x rehearsal, err error) {
	scratch, err := r.scratch(ctx, tmp, s.Commit)
	if err != nil {
		return x, err
	}
	if len(patch) > 0 {
		if _, err := scratch.run(ctx, patch, maxOutput, "apply", "--cached", "--binary", "--whitespace=nowarn", "-"); err != nil {
			return x, refusal.New(refusal.Invalid, "ask for a new snapshot", "git cannot apply the patch").With("cause", cause(err))
		}
	}
	changes, err := scratch.checkChanges(ctx, s.Commit)
	if err != nil {
		return x, err
	}
	for _, c := range changes {
		if c.oldMode == absent {
			x.added = append(x.added, c.path)
		}
	}
	tree, err := scratch.line(ctx, "write-tree")
	if err != nil {
		return x, err
	}
	if tree != s.Tree {
		return x, refusal.New(refusal.Invalid, "ask for a new snapshot", "the patch leads to tree %s, the snapshot names %s", tree, s.Tree)
	}
	x.runs, err = scratch.runs(ctx)
	return x, err
}

// checkout makes the snapshot's commit the one that is checked out.
func (r *repo) checkout(ctx context.Context, s Snapshot) (Applied, error) {
	now, err := r.origin(ctx)
	if err != nil {
		return Applied{}, err
	}
	done := Applied{Before: cmp.Or(r.branch(ctx), now.Commit)}
	if now.Commit == s.Commit {
		return done, nil
	}
	done.Detached = true
	if _, err := r.run(ctx, nil, maxOutput, "checkout", "--quiet", "--detach", "--no-recurse-submodules", s.Commit, "--"); err != nil {
		return Applied{}, refusal.New(refusal.Conflict, "move away the files that are in the way, or use a fresh clone",
			"commit %s cannot be checked out", s.Commit).With("cause", cause(err))
	}
	return done, nil
}

// verify compares the working tree with what the snapshot promised. Files that git does not know were there before:
// ignored ones, which the patch may have stopped to ignore.
func (r *repo) verify(ctx context.Context, s Snapshot) error {
	tmp, err := os.MkdirTemp("", "gitsnap-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	scratch, _, err := r.stage(ctx, tmp, false)
	if err != nil {
		return err
	}
	tree, err := scratch.line(ctx, "write-tree")
	if err == nil && tree != s.Tree {
		err = fmt.Errorf("the working tree became %s, not %s as the snapshot says", tree, s.Tree)
	}
	return err
}
