package handoff

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/files/gitsnap"
)

// Media types of the artifacts that describe a working tree: a document, and the patch that it names.
const (
	gitDocument = "application/vnd.trapeze.git-snapshot+json"
	gitPatch    = "text/x-diff"
)

// gitFlag defines --git, whose directory is optional.
func gitFlag(f *pflag.FlagSet, dir *string, usage string) {
	f.StringVar(dir, "git", "", usage)
	f.Lookup("git").NoOptDefVal = "."
}

// uploadGit uploads the state of the git working tree that dir is in, and returns the artifacts for the envelope. The working
// tree and its repository do not change. It warns on standard error about what the receiver may not be able to fetch.
func uploadGit(ctx context.Context, s *shell.Shell, c *client.Client, dir string) ([]client.Artifact, error) {
	snap, patch, err := gitsnap.Take(ctx, dir, gitsnap.Options{})
	if err != nil {
		return nil, err
	}
	doc, err := json.Marshal(snap)
	if err != nil {
		return nil, err
	}
	list := []client.Artifact{{Name: "git-snapshot.json", MediaType: gitDocument}}
	contents := [][]byte{doc}
	if len(patch) > 0 {
		list, contents = append(list, client.Artifact{Name: "changes.patch", MediaType: gitPatch}), append(contents, patch)
	}
	for i, content := range contents {
		info, err := c.PutArtifact(ctx, bytes.NewReader(content), string(artifact.DigestOf(content)))
		if err != nil {
			return nil, err
		}
		list[i].Digest = info.Digest
	}
	if !snap.Pushed {
		fmt.Fprintf(s.Stderr, "trapeze: warning: commit %s is not on any remote of this clone: push it, unless the receiver can fetch it from here\n", short(snap.Commit))
	}
	if n := len(snap.Skipped) + snap.Dropped; n > 0 {
		fmt.Fprintf(s.Stderr, "trapeze: warning: %d changed submodules or nested repositories are not included: %s\n", n, shell.OneLine(shell.Names(snap.Skipped)))
	}
	return list, nil
}

func short(commit string) string { return commit[:min(len(commit), 12)] }

// gitState is the state of a working tree as its sender uploaded it.
type gitState struct {
	snap  gitsnap.Snapshot
	patch []byte
}

// fetchGit fetches the newest working tree of a task, a handoff or a share.
func fetchGit(ctx context.Context, c *client.Client, id string) (h gitState, err error) {
	sheet, err := c.Content(ctx, id, client.ContentInput{Source: true})
	if err != nil {
		return h, err
	}
	var e struct {
		Artifacts []client.Artifact `json:"artifacts"`
	}
	if err := json.Unmarshal(sheet.Envelope, &e); err != nil {
		return h, fmt.Errorf("the envelope cannot be read: %w", err)
	}
	slices.Reverse(e.Artifacts)
	i := slices.IndexFunc(e.Artifacts, func(a client.Artifact) bool { return a.MediaType == gitDocument })
	if i < 0 {
		return h, refusal.New(refusal.NotFound, "ask the sender to use trapeze send --git", "%.80q has no git working tree", id)
	}
	doc, err := fetchArtifact(ctx, c, e.Artifacts[i].Digest, gitsnap.MaxDocument)
	if err != nil {
		return h, err
	}
	if h.snap, err = gitsnap.Parse(doc); err != nil || h.snap.Patch == "" {
		return h, err
	}
	h.patch, err = fetchArtifact(ctx, c, string(h.snap.Patch), artifact.DefaultMaxSize)
	return h, err
}

// fetchArtifact fetches an artifact of at most limit bytes.
func fetchArtifact(ctx context.Context, c *client.Client, digest string, limit int) ([]byte, error) {
	b := boundedBuffer{left: limit}
	_, err := c.Artifact(ctx, digest, &b)
	return b.b.Bytes(), err
}

// boundedBuffer is a buffer of limited size.
type boundedBuffer struct {
	b    bytes.Buffer
	left int
}

func (w *boundedBuffer) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, refusal.New(refusal.TooLarge, "ask the sender to send it again", "the git working tree of the handoff is larger than a snapshot may be")
	}
	return w.b.Write(b)
}

// checkGit refuses, before an offer is accepted, what [applyGit] would refuse afterwards. It checks nothing if the content is
// only available after the acceptance.
func checkGit(ctx context.Context, c *client.Client, id, dir string) error {
	h, err := fetchGit(ctx, c, id)
	if errors.Is(err, client.NotPermitted) {
		return nil
	}
	if err != nil {
		return err
	}
	return gitsnap.Try(ctx, dir, h.snap, h.patch, gitsnap.Options{})
}

// gitApplied describes a working tree after [applyGit].
type gitApplied struct {
	Commit string `json:"commit"`
	Branch string `json:"branch,omitempty"` // that the sender had checked out
	Remote string `json:"remote,omitempty"`
	Tree   string `json:"tree"`             // ID of the git tree that the working tree is now, changes included
	Bytes  int64  `json:"bytes"`            // of the changes
	Before string `json:"before,omitempty"` // the branch or commit that was checked out before, if it was another commit
	// Runs are the files that programs run by themselves, which the sender added or changed.
	Runs []gitsnap.Runs `json:"runs,omitempty"`
}

// applyGit makes the git working tree that dir is in the same as the one of a task, a handoff or a share. It refuses a working
// tree with uncommitted changes, and leaves it as it was.
func applyGit(ctx context.Context, s *shell.Shell, c *client.Client, id, dir string) (gitApplied, error) {
	h, err := fetchGit(ctx, c, id)
	if err != nil {
		return gitApplied{}, err
	}
	done, err := gitsnap.Apply(ctx, dir, h.snap, h.patch, gitsnap.Options{Warn: func(list []gitsnap.Runs) { warnOfRuns(s, list) }})
	a := gitApplied{Commit: h.snap.Commit, Branch: h.snap.Branch, Remote: h.snap.Remote, Tree: h.snap.Tree, Bytes: h.snap.Size, Runs: done.Runs}
	if done.Detached {
		a.Before = done.Before
	}
	return a, err
}

// warnOfRuns names the files that programs run by themselves, before they are written.
func warnOfRuns(s *shell.Shell, list []gitsnap.Runs) {
	s.Notef("warning: programs run or obey these files of the sender by themselves; read them first:")
	for _, x := range list {
		s.Notef("warning: %s (%s)", x.Path, x.By)
	}
}

// Print prints the commit and the changes.
func (a gitApplied) Print(p *shell.Page) {
	p.Fields([]shell.Field{{"working tree", a.at()}, {"remote", a.Remote}, {"changes", changes(a.Bytes)}, {"before", a.Before}})
}

// line is the same on one line.
func (a gitApplied) line() string {
	line := fmt.Sprintf("working tree %s, changes: %s", a.at(), changes(a.Bytes))
	if a.Before != "" {
		line += ", before: " + a.Before
	}
	return shell.OneLine(line)
}

func (a gitApplied) at() string {
	if a.Branch == "" {
		return short(a.Commit)
	}
	return short(a.Commit) + " of " + a.Branch
}

func changes(bytes int64) string {
	if bytes == 0 {
		return "none"
	}
	return fmt.Sprintf("a patch of %d bytes", bytes)
}

// apply is the command trapeze handoff apply.
func apply(s *shell.Shell) *cobra.Command {
	cmd := s.Call("apply HANDOFF [DIR]", "Apply the git working tree that was sent with a handoff", cobra.RangeArgs(1, 2),
		func(ctx context.Context, c *client.Client, args []string) error {
			a, err := applyGit(ctx, s, c, args[0], append(args, ".")[1])
			return s.Answer(a, err, a.Print)
		})
	cmd.Long = `Make the git working tree of DIR (default: the current directory) the same as the sender's: its commit, with its uncommitted
changes on top. ID is that of a task, a handoff or a share. The clone must have the commit, and no uncommitted changes of its
own, or nothing is changed. Files that programs run by themselves, such as .envrc, hooks, and settings of editors and agents, are named
on standard error before they are written. The sender includes its working tree with trapeze send --git.`
	return shell.Example(cmd, "trapeze handoff apply $TASK .")
}
