package backup

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// Segment says what was put away.
type Segment struct {
	File    string `json:"file"`
	First   uint64 `json:"first"`
	Last    uint64 `json:"last"`
	Root    string `json:"root"`    // of the tree at Last
	SHA256  string `json:"sha256"`  // of the file, hexadecimal
	Entries int    `json:"entries"` // that the database has no more
	// Next is what keeps the entries after it; empty: the time.
	Next string `json:"next,omitempty"`
}

// PutAway is the command trapeze put-away.
func PutAway(s *shell.Shell, by Copier) *cobra.Command {
	var before string
	cmd := s.Command("put-away", "Put the oldest entries of the record away in a file, while no server runs", shell.NoArgs, func(ctx context.Context, _ []string) error {
		ctx, stop := shell.Interruptible(ctx)
		defer stop()
		until, err := day(before)
		if err != nil {
			return err
		}
		dir, err := s.DataDir()
		if err != nil {
			return shell.Usage(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "trapeze.db")); err != nil && !isFollower(dir) {
			return shell.Usagef("%s is not a data directory: name that of the server with --data-dir: %w", dir, err)
		}
		made, err := by.PutAway(ctx, dir, until)
		if err != nil {
			return err
		}
		return s.Emit(made, func(p *shell.Page) { showSegment(p, dir, made) })
	})
	cmd.Long = `Put the oldest entries of the record away in a new file, a segment, which verifies by itself and can be kept elsewhere. Of the entries in it, those of tasks
are removed from the database, which has only their hashes from then on: receipts, checkpoints and "trapeze verify" hold as before.

The segment has all entries from the first one that is in no segment yet, up to the first one that is not older than --before, or that belongs to a task that is still
needed: it has not ended, or one of its family has not; a legal hold is on it; or the retention policy keeps it or is still to erase it. What that is is printed.

The file is in the directory "segments" of the data directory, and while it is there the server reads it. Copy it to where you keep backups, with the SHA-256 that is
printed. You may then take it out of the data directory: what is in it is refused with the name of the file until it is copied back, which needs no restart. Views
cannot be built again without it, so a newer version of the server may need it once.

No server may run in the data directory meanwhile. If the command is interrupted, call it again: it finishes. docs/operate.md says more.`
	cmd.Flags().StringVar(&before, "before", "", "put away what is older than this day or time, such as 2025-01-01 or 2025-01-01T06:00:00Z (required)")
	return shell.Example(cmd, "trapeze stop\ntrapeze put-away --before 2025-01-01\ntrapeze verify ~/.local/share/trapeze/segments/1-48211.segment --keys keys.txt")
}

// day parses a day, which begins in UTC, or a time.
func day(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, shell.Usagef("say what is old enough: --before 2025-01-01")
	}
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		t, err = time.Parse(time.RFC3339, text)
	}
	if err != nil {
		return t, shell.Usagef("--before: %q is neither a day like 2025-01-01 nor a time like 2025-01-01T06:00:00Z", text)
	}
	return t, nil
}

func showSegment(p *shell.Page, dir string, made Segment) {
	p.Line("Entries %d to %d are in %s", made.First, made.Last, made.File)
	p.Line("SHA-256 %s, root %s", made.SHA256, made.Root)
	p.Line("%d entries of tasks were removed from the database.", made.Entries)
	if made.Next != "" {
		p.Line("The entries after it stay: %s.", made.Next)
	}
	p.Line("Copy the file and its SHA-256 to where you keep backups. The server reads it while it is in %s; you may take it out, and copy it back when an answer names it.", filepath.Dir(made.File))
	p.Line("Verify it: trapeze verify %s --keys %s", shellword.Quote(made.File), shellword.Quote(filepath.Join(dir, "proof", "keys")))
}
