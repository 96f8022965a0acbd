package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/internal/cli/newfile"
	"github.com/trapezehq/trapeze/internal/cli/place"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Options say what a backup has.
type Options struct {
	After    io.Reader // the backup that it follows; nil: none
	Secrets  io.Writer // gets the keys and tokens, which the backup then lacks; nil: they are in it
	Rate     int64     // bytes per second; 0: no limit
	Progress func(at, until uint64)
	Record   place.Place // where the record is; the zero value: where the data directory says
}

// Made says what a backup has.
type Made struct {
	After    uint64 `json:"after"`
	Position uint64 `json:"position"`
	Root     string `json:"root"`
	Signed   int64  `json:"signed"`
	Log      string `json:"log"`
	// Damaged are artifacts that the backup lacks, since their content is not what their name says.
	Damaged []string `json:"damaged,omitempty"`
	// Unsigned: the directory has no key of its log that can be read, so that the backup shows only that it is whole.
	Unsigned bool `json:"unsigned,omitempty"`
}

// Restored says what was restored.
type Restored struct {
	Position uint64    `json:"position"`
	Root     string    `json:"root"`
	Made     time.Time `json:"made"`
	Signed   int64     `json:"signed"`
	Log      string    `json:"log"`
	Files    int       `json:"files"`
	// Unsigned are the policies, keys and tokens of backups that were not signed: nothing tells who made them.
	Unsigned []string `json:"unsigned,omitempty"`
}

// Copier copies data directories.
type Copier struct {
	Backup  func(ctx context.Context, dir string, to io.Writer, o Options) (Made, error)
	Restore func(ctx context.Context, dir, keys string, to place.Place, from []io.Reader) (Restored, error)
	PutAway func(ctx context.Context, dir string, before time.Time) (Segment, error)
}

// flags of trapeze backup.
type flags struct {
	after, secrets string
	rate           int64
	record         place.Place
}

// Command is the command trapeze backup.
func Command(s *shell.Shell, by Copier) *cobra.Command {
	var o flags
	cmd := s.Command("backup FILE", "Copy the data directory into a file, while the server runs", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		ctx, stop := shell.Interruptible(ctx)
		defer stop()
		return o.run(ctx, s, by, args[0])
	})
	cmd.Long = `Copy the data directory into a new file: the whole record up to a signed checkpoint, the artifacts, the policies, the keys and the tokens. It runs
on the machine of the server, beside it, and stops nothing: everything that was acknowledged before is in it. With "-" it goes to standard output, for
example to a program that encrypts it.

A backup with --after has what was added since another backup, and is restored together with it. --secrets writes the keys and tokens to a
file of their own, so that they can be kept elsewhere.

If several servers share the record, --data-dir is that of one that runs on this machine, and --postgres or --nats, or TRAPEZE_POSTGRES or TRAPEZE_NATS, say
where the record is, as for that server. A node of a cluster needs neither.

A backup gives its reader everything: keep it as you keep the data directory. docs/backup.md has a schedule and a drill.`
	cmd.Flags().StringVar(&o.after, "after", "", "a backup that this one follows: write what was added since")
	cmd.Flags().StringVar(&o.secrets, "secrets", "", "new file for the keys and tokens, which the backup then lacks")
	o.record.Flags(cmd.Flags())
	cmd.Flags().Int64Var(&o.rate, "rate", 0, "greatest number of bytes per second to write (default: no limit)")
	return shell.Example(cmd, "trapeze backup monday.backup\ntrapeze backup tuesday.backup --after monday.backup")
}

// isFollower reports whether the record of a data directory is elsewhere.
func isFollower(dir string) bool {
	found, err := filepath.Glob(filepath.Join(dir, "*.record"))
	return err == nil && len(found) > 0
}

func (o flags) run(ctx context.Context, s *shell.Shell, by Copier, name string) (err error) {
	if o.rate < 0 {
		return shell.Usagef("--rate must be at least 1 byte per second")
	}
	dir, err := s.DataDir()
	if err != nil {
		return shell.Usage(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "trapeze.db")); err != nil && !isFollower(dir) {
		return shell.Usage(fmt.Errorf("%s is not a data directory: name that of the server with --data-dir: %w", dir, err))
	}
	if isFollower(dir) {
		if err := o.record.Complete(s.Getenv); err != nil {
			return err
		}
	}
	options := Options{Rate: o.rate, Progress: progress(s), Record: o.record}
	if o.after != "" {
		base, err := os.Open(o.after)
		if err != nil {
			return shell.Usage(err)
		}
		defer base.Close()
		options.After = base
	}
	var files newfile.Set
	defer func() { err = errors.Join(err, files.End(err)) }()
	if o.secrets != "" {
		if options.Secrets, err = files.Create(o.secrets); err != nil {
			return err
		}
	}
	to := s.Stdout
	if name != "-" {
		if to, err = files.Create(name); err != nil {
			return err
		}
	}
	made, err := by.Backup(ctx, dir, to, options)
	if err != nil {
		return err
	}
	if err := files.End(nil); err != nil {
		return err
	}
	for _, name := range made.Damaged {
		s.Notef("the artifact %s is damaged, and not in the backup: put it again, or remove the file", name)
	}
	if made.Unsigned {
		s.Notef("the backup is not signed, since the directory has no key of its log (proof/key) that can be read: trapeze restore with --keys refuses it")
	}
	text := fmt.Sprintf("%d entries up to position %d, with the root %s", made.Position-made.After, made.Position, made.Root)
	if name == "-" {
		s.Notef("%s", text)
		return nil
	}
	return s.Emit(made, func(p *shell.Page) {
		p.Line("%s", text)
		if uint64(made.Signed) < made.Position { //nolint:gosec // never negative
			p.Line("Those after position %d are in no checkpoint: no server runs on this directory.", made.Signed)
		}
	})
}

// every is the interval of notes on the progress.
const every = 5 * time.Second

// progress notes now and then how far it is.
func progress(s *shell.Shell) func(at, until uint64) {
	last := time.Now()
	return func(at, until uint64) {
		if now := time.Now(); now.Sub(last) >= every {
			last = now
			s.Notef("position %d of %d", at, until)
		}
	}
}
