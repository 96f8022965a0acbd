package workspace

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/cli/newfile"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

func export(s *shell.Shell) *cobra.Command {
	var to, file string
	cmd := s.Command("export NAME", "Have a workspace move to another server: stop it here for good, and write its file", cobra.ExactArgs(1), func(ctx context.Context, args []string) (err error) {
		c, err := s.Dial(ctx)
		if err != nil {
			return err
		}
		var files newfile.Set
		defer func() { err = errors.Join(err, files.End(err)) }()
		w, err := files.Create(file)
		if err != nil {
			return err
		}
		a := admin.New(c)
		m, err := a.MoveWorkspace(ctx, args[0], admin.MoveInput{To: to})
		if err != nil {
			return err
		}
		if err := a.ExportWorkspace(ctx, m.Name, w); err != nil {
			return err
		}
		if err := files.End(nil); err != nil {
			return err
		}
		return s.Emit(m, func(p *shell.Page) {
			p.Line("The workspace %s moves to %s: %d entries and %d artifacts are in %s. Here, nothing in it changes any more.", m.Name, m.To, m.Entries, m.Files, file)
			p.Next("Import the file at %s: %s", m.To, shellword.Command("trapeze workspace import", file))
		})
	})
	cmd.Long = `Have a workspace move to another server, without the others. From now on every change in it is refused here, with the address of that server, for good; what is
in it can still be read. The file has its entries byte by byte, the artifacts, and the proof of what this server signed: keep it as you keep a backup. If the
command is interrupted, repeat it: the file has the same each time. Then import it at the other server. docs/workspaces.md says what moves.`
	cmd.Flags().StringVar(&to, "to", "", "address of the other server, as clients are given it")
	cmd.Flags().StringVarP(&file, "output", "o", "", "new file to write")
	_ = cmd.MarkFlagRequired("to")
	_ = cmd.MarkFlagRequired("output")
	return shell.Example(cmd, "trapeze workspace export red --to https://b.example.org:8727 -o red.workspace")
}

func importFile(s *shell.Shell) *cobra.Command {
	var to, keys string
	cmd := s.Command("import FILE", "Import a workspace that moves to this server", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		f, err := os.Open(args[0])
		if err != nil {
			return shell.Usage(err)
		}
		defer f.Close()
		known := []byte{}
		if keys != "" {
			if known, err = os.ReadFile(keys); err != nil {
				return shell.Usage(err)
			}
		}
		c, err := s.Dial(ctx)
		if err != nil {
			return err
		}
		if to == "" {
			to = c.URL()
		}
		m, err := admin.New(c).ImportWorkspace(ctx, to, string(known), f, func(m admin.Move) { s.Notef("%d of %d entries of %s are here", m.Here, m.Entries, m.Name) })
		if err != nil {
			return err
		}
		return s.Emit(m, func(p *shell.Page) {
			p.Line("The workspace %s is here, with %d entries and %d artifacts. Its agents and people go on with the same tokens.", m.Name, m.Entries, m.Files)
		})
	})
	cmd.Long = `Import the file of a workspace that moves to this server (trapeze workspace export). Nothing is written before all of it is verified, and nothing in the workspace is
read or changed before all of it is here. If the command is interrupted, repeat it: it goes on where it ended. The address at which this server is called
must be the one that the file names; if you reach it by another one, give that with --to.`
	cmd.Flags().StringVar(&to, "to", "", "address of this server that the file names (default: the one that is called)")
	cmd.Flags().StringVar(&keys, "keys", "", "file with the public keys of the source, from elsewhere (default: those in the file, which tell that it is whole)")
	return shell.Example(cmd, "trapeze workspace import red.workspace --url https://b.example.org:8727")
}
