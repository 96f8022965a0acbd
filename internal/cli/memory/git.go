package memory

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

// The media types of what the state of a working tree is handed over as: a document, which names the patch.
const (
	gitDocument = "application/vnd.trapeze.git-snapshot+json"
	gitPatch    = "text/x-diff"
)

// GitFlag defines --git, of which the directory can be left out.
func GitFlag(f *pflag.FlagSet, dir *string, about string) {
	f.StringVar(dir, "git", "", about)
	f.Lookup("git").NoOptDefVal = "."
}

// TakeGit has the server keep the state of the git working tree that dir is in, and returns what an envelope refers to it
// by. Nothing in the working tree or its repository changes. What the receiver may lack is said on standard error.
func TakeGit(ctx context.Context, s *shell.Shell, c *client.Client, dir string) ([]client.Artifact, error) {
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
		fmt.Fprintf(s.Stderr, "trapeze: commit %s is on no remote that this clone knows of: push it, unless the receiver can fetch it from here\n", short(snap.Commit))
	}
	if n := len(snap.Skipped) + snap.Dropped; n > 0 {
		fmt.Fprintf(s.Stderr, "trapeze: %d changed submodules or repositories in the repository stay behind: %s\n", n, shell.OneLine(shell.Names(snap.Skipped)))
	}
	return list, nil
}

func short(commit string) string { return commit[:min(len(commit), 12)] }

// handed is the state of a working tree as it was handed over.
type handed struct {
	snap  gitsnap.Snapshot
	patch []byte
}

// handedGit fetches the newest state of a working tree that goes with a task, a handoff or a share.
func handedGit(ctx context.Context, c *client.Client, id string) (h handed, err error) {
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
		return h, refusal.New(refusal.NotFound, "the sender adds one with trapeze send --git", "no git working tree goes with %.80q", id)
	}
	doc, err := fetch(ctx, c, e.Artifacts[i].Digest, gitsnap.MaxDocument)
	if err != nil {
		return h, err
	}
	if h.snap, err = gitsnap.Parse(doc); err != nil || h.snap.Patch == "" {
		return h, err
	}
	h.patch, err = fetch(ctx, c, string(h.snap.Patch), artifact.DefaultMaxSize)
	return h, err
}

// fetch is an artifact of at most so many bytes.
func fetch(ctx context.Context, c *client.Client, digest string, most int) ([]byte, error) {
	b := bounded{left: most}
	_, err := c.Artifact(ctx, digest, &b)
	return b.b.Bytes(), err
}

// bounded is a buffer that does not grow for ever.
type bounded struct {
	b    bytes.Buffer
	left int
}

func (w *bounded) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, refusal.New(refusal.TooLarge, "ask for a new snapshot", "what goes with the handoff is larger than a git snapshot can be")
	}
	return w.b.Write(b)
}

// TryGit refuses, before an offer is taken, what [ApplyGit] would refuse afterwards. Where the content only comes with the
// acceptance it cannot tell.
func TryGit(ctx context.Context, c *client.Client, id, dir string) error {
	h, err := handedGit(ctx, c, id)
	if errors.Is(err, client.NotPermitted) {
		return nil
	}
	if err != nil {
		return err
	}
	return gitsnap.Try(ctx, dir, h.snap, h.patch, gitsnap.Options{})
}

// GitApplied is a working tree that has become the one that was handed over.
type GitApplied struct {
	Commit string `json:"commit"`
	Branch string `json:"branch,omitempty"` // that the sender had checked out
	Remote string `json:"remote,omitempty"`
	Tree   string `json:"tree"`             // id of the git tree that the working tree is now, changes included
	Bytes  int64  `json:"bytes"`            // of the changes
	Before string `json:"before,omitempty"` // the branch or commit that was checked out before, if it was another commit
}

// ApplyGit makes the git working tree that dir is in the same as the one that was handed over with a task, a handoff or a
// share. A working tree with changes of its own is refused and left as it was.
func ApplyGit(ctx context.Context, c *client.Client, id, dir string) (GitApplied, error) {
	h, err := handedGit(ctx, c, id)
	if err != nil {
		return GitApplied{}, err
	}
	done, err := gitsnap.Apply(ctx, dir, h.snap, h.patch, gitsnap.Options{})
	a := GitApplied{Commit: h.snap.Commit, Branch: h.snap.Branch, Remote: h.snap.Remote, Tree: h.snap.Tree, Bytes: h.snap.Size}
	if done.Detached {
		a.Before = done.Before
	}
	return a, err
}

// Print says what became of the working tree.
func (a GitApplied) Print(p *shell.Page) {
	at := short(a.Commit)
	if a.Branch != "" {
		at += " of " + a.Branch
	}
	p.Fields([]shell.Field{{"working tree", at}, {"remote", a.Remote}, {"changes", changes(a.Bytes)}, {"before", a.Before}})
}

func changes(bytes int64) string {
	if bytes == 0 {
		return "none"
	}
	return fmt.Sprintf("a patch of %d bytes", bytes)
}

// HandoffApply is the command that applies what was handed over.
func HandoffApply(s *shell.Shell) *cobra.Command {
	cmd := s.Call("apply ID [DIR]", "Make a git working tree the same as the one that was handed over", cobra.RangeArgs(1, 2),
		func(ctx context.Context, c *client.Client, args []string) error {
			a, err := ApplyGit(ctx, c, args[0], append(args, ".")[1])
			if err != nil {
				return err
			}
			return s.Emit(a, a.Print)
		})
	cmd.Long = `Make the git working tree that DIR (default: this directory) is in the same as the one that was handed over with a task, a
handoff or a share: the sender's commit, and on top of it the changes that were not committed. The clone must have the
commit, and no changes of its own; otherwise nothing happens. The sender adds its working tree with trapeze send --git.`
	return example(cmd, "trapeze handoff apply $TASK .")
}
