package audit

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/cli/newfile"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Receipt is the command trapeze receipt.
func Receipt(s *shell.Shell) *cobra.Command {
	cmd := fetch(s, "receipt HANDOFF|POSITION", "Get the receipt of a handoff or of one entry, which others can verify", cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string, w io.Writer) error {
		if position, err := strconv.ParseUint(args[0], 10, 64); err == nil {
			return admin.New(c).ReceiptAt(ctx, position, w)
		}
		return admin.New(c).HandoffReceipt(ctx, args[0], w)
	})
	cmd.Long = `Get the receipt of a handoff: the entries that request, accept and complete it, each with the proof that it is in the record. It shows who asked
when, who accepted which envelope when, and with which epoch ownership moved. "trapeze verify" checks it without the server, with the public keys of
"trapeze audit keys". A receipt holds whole entries, with the envelope, and is for callers that may read them. The read is recorded.

With a position of the record, such as the one in the answer of a command with --json, it is the receipt of that one entry.`
	return shell.Example(cmd, "trapeze receipt $TASK.h1 -o handoff.tlog-proof")
}

func auditCheckpoint(s *shell.Shell) *cobra.Command {
	cmd := fetch(s, "checkpoint", "Get the last signed checkpoint of the record", shell.NoArgs, func(ctx context.Context, c *client.Client, _ []string, w io.Writer) error {
		return admin.New(c).Checkpoint(ctx, w)
	})
	cmd.Long = `Get the last signed checkpoint of the record, for operators and auditors. Keep one now and then where the operator of the server cannot
change it: "trapeze verify DIR --checkpoint FILE" holds a data directory against it.`
	return cmd
}

// errChanged is the error of a check that found a difference.
var errChanged = errors.New("the record is not the one that was signed")

func auditCheck(s *shell.Shell) *cobra.Command {
	cmd := s.Call("check FILE", "Compare the record with a checkpoint or a receipt that you kept", cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		text, err := os.ReadFile(args[0])
		if err != nil {
			return shell.Usage(err)
		}
		r, err := admin.New(c).CheckRecord(ctx, string(text))
		if err != nil {
			return err
		}
		if err := s.Emit(r, func(p *shell.Page) { p.Line("%s", r.Meaning) }); err != nil || r.Holds {
			return err
		}
		return shell.Hinted(errChanged, "keep the file, and ask the operator of the server: the changes after a backup that was restored are lost")
	})
	cmd.Long = `Ask the server whether its record still has everything that a checkpoint, or the checkpoint of a receipt, signed. After a restore from an older backup,
and if the record was changed, it has not, and the exit code is 1. The server answers by its own tree: to check without trusting it, use
"trapeze verify DIR --checkpoint FILE" on a copy of its data directory.`
	return shell.Example(cmd, "trapeze audit check handoff.tlog-proof")
}

func auditKeys(s *shell.Shell) *cobra.Command {
	return fetch(s, "keys", "Get the public keys with which checkpoints are signed", shell.NoArgs, func(ctx context.Context, c *client.Client, _ []string, w io.Writer) error {
		return admin.New(c).ProofKeys(ctx, w)
	})
}

func auditRotateKey(s *shell.Shell) *cobra.Command {
	var why, file string
	cmd := s.Call("rotate-key", "Give the record another key for its checkpoints", shell.NoArgs, func(ctx context.Context, c *client.Client, _ []string) error {
		r, err := admin.New(c).RotateKey(ctx, why)
		if err == nil && file != "" {
			err = newfile.Write(file, func(w io.Writer) error { _, err := io.WriteString(w, r.Receipt); return err })
		}
		return s.Answer(r, err, func(p *shell.Page) {
			p.Line("rotated at position %d of the record", r.Position)
			p.Fields([]shell.Field{{"  old key", r.Old}, {"  new key", r.New}})
			p.Line("Give the new key to those who verify: trapeze audit keys lists both. What the old key signed still verifies.")
		})
	})
	cmd.Long = `Give the record another key for its checkpoints, for administrators. The rotation is an entry of the record, and the old key signs a last checkpoint
that has it: with -o, the proof of that is written to a file, which shows those who know the old key that this log has the new one. Receipts and
checkpoints that the old key signed still verify with it, and "trapeze audit keys" lists both. A witness of this log must be given the new key, too.`
	cmd.Flags().StringVar(&why, "why", "", "why the key is rotated, for the record")
	cmd.Flags().StringVarP(&file, "output", "o", "", "file to write the proof of the rotation to, which must not exist")
	return shell.Example(cmd, "trapeze audit rotate-key --why 'yearly' -o rotation.tlog-proof")
}

// fetch is a command that writes an answer of the server as it is, to standard output or a new file.
func fetch(s *shell.Shell, use, short string, args cobra.PositionalArgs, call func(ctx context.Context, c *client.Client, args []string, w io.Writer) error) *cobra.Command {
	var file string
	cmd := s.Command(use, short, args, func(ctx context.Context, args []string) (err error) {
		ctx, stop := shell.Interruptible(ctx)
		defer stop()
		c, err := s.Dial(ctx)
		if err != nil {
			return err
		}
		if file == "" {
			return call(ctx, c, args, s.Stdout)
		}
		return newfile.Write(file, func(w io.Writer) error { return call(ctx, c, args, w) })
	})
	cmd.Flags().StringVarP(&file, "output", "o", "", "file to write, which must not exist (default: standard output)")
	return cmd
}
