package backup

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/internal/cli/place"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// Restore is the command trapeze restore.
func Restore(s *shell.Shell, by Copier) *cobra.Command {
	var keysFile string
	var to place.Place
	var cmd *cobra.Command
	cmd = s.Command("restore BACKUP... DIR", "Make a data directory of a backup, and verify it", cobra.MinimumNArgs(2), func(ctx context.Context, args []string) (err error) {
		to.Node.Secret = s.Getenv("TRAPEZE_CLUSTER_SECRET") // not Complete: a URL that is set for servers is not where to restore to
		if err := to.Check(); err != nil {
			return err
		}
		names, dir := args[:len(args)-1], args[len(args)-1]
		keys := ""
		if cmd.Flags().Changed("keys") {
			b, err := os.ReadFile(keysFile) //nolint:gosec // the path is the user's
			if err != nil {
				return shell.Usage(err)
			}
			if keys = string(b); keys == "" {
				return shell.Usagef("%s is empty: get the public keys of the log with trapeze audit keys, while its server runs", keysFile)
			}
		}
		from, closeAll, err := open(s, names)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, closeAll()) }()
		r, err := by.Restore(ctx, dir, keys, to, from)
		if err != nil {
			return err
		}
		return s.Emit(r, func(p *shell.Page) {
			p.Line("%d entries with the root %s, and %d files; backed up on %s", r.Position, r.Root, r.Files, r.Made.Format(time.RFC3339))
			showSigned(p, r, keys != "")
			switch {
			case to.Node.Cluster != "":
				p.Line("The record is in the cluster, and was compared with the backup. Start this node, with the address for callers and TRAPEZE_CLUSTER_SECRET as at the other nodes:")
				command := "trapeze serve"
				for _, arg := range append([]string{"--data-dir", dir}, to.Node.Args()...) {
					command += " " + shellword.Quote(arg)
				}
				p.Line("  %s", command)
				return
			case to.IsShared():
				p.Line("The record is there, and was compared with the backup. Start a front end, with the URL in TRAPEZE_POSTGRES or TRAPEZE_NATS:")
			}
			p.Line("Start the server: trapeze serve --data-dir %s", shellword.Quote(dir))
		})
	})
	cmd.Long = `Make a new data directory of a full backup and the incremental ones that follow it, in their order, and of the secrets, if they were kept apart ("-" is
standard input). Every entry and every artifact is verified: against the root that the backup names, and against the signed checkpoint in it; policies, keys and
tokens against the signature on the backup. DIR must not exist, or be empty, and is filled only if everything verifies.

With --postgres or --nats the record, the artifacts and the keys go into an empty PostgreSQL database or NATS cluster, and DIR becomes the data directory of
a front end.

With --cluster-name the record goes into new nodes of a cluster, of which the restore runs this one, and DIR becomes its data directory. Start the restore
first, then the other nodes with trapeze serve and empty data directories: they wait until it has ended. Then start this node with trapeze serve, too (see docs/cluster.md). The secret of the cluster is in TRAPEZE_CLUSTER_SECRET.

Give the public keys of the log with --keys, from where the operator of the server cannot write, to know that this log signed all of it; without them the
backup only shows that it is whole, and somebody who can write where it is kept can give you another policy. The server records at its first start up to which position it was restored; what was acknowledged after the
backup is not in it, and clients that have a later receipt can show that.`
	to.Flags(cmd.Flags())
	to.NodeFlags(cmd.Flags())
	cmd.Flags().StringVar(&keysFile, "keys", "", "file with the public keys of the log, one in each line (default: those in the backup)")
	return shell.Example(cmd, "trapeze restore monday.backup tuesday.backup ~/restored")
}

// showSigned shows what is signed, by keys that the caller gave, or by those in the backup.
func showSigned(p *shell.Page, r Restored, given bool) {
	switch {
	case len(r.Unsigned) > 0:
		if r.Signed > 0 {
			p.Line("Signed by %s up to position %d.", r.Log, r.Signed)
		}
		p.Line("Not signed, so look at them before you start the server: %s", shell.OneLine(strings.Join(r.Unsigned, ", ")))
	case given:
		p.Line("Signed by %s up to position %d, with all files.", r.Log, r.Position)
	default:
		p.Line("Signed by %s up to position %d, with all files, by the keys in the backup itself: only --keys shows that they are those of your log.", r.Log, r.Position)
	}
}

// open opens the backups that are named, "-" for standard input.
func open(s *shell.Shell, names []string) (from []io.Reader, closeAll func() error, err error) {
	var files []io.Closer
	closeAll = func() (err error) {
		for _, f := range files {
			err = errors.Join(err, f.Close())
		}
		return err
	}
	for _, name := range names {
		if name == "-" {
			from = append(from, s.Stdin)
			continue
		}
		f, err := os.Open(name) //nolint:gosec // the path is the user's
		if err != nil {
			return nil, nil, errors.Join(shell.Usage(err), closeAll())
		}
		files, from = append(files, f), append(from, f)
	}
	return from, closeAll, nil
}
