package handoff

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// Accept is the command trapeze accept.
func Accept(s *shell.Shell) *cobra.Command {
	in := client.AcceptInput{Render: true, Via: client.ViaCLI}
	var git string
	cmd := s.Call("accept HANDOFF", "Accept an offer, and print its content", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) error {
			id := args[0]
			if git != "" {
				if err := checkGit(ctx, c, id, git); err != nil {
					return err
				}
			}
			a, err := c.Accept(ctx, id, in)
			if err != nil {
				return err
			}
			if s.AskedFor(a.Task); a.Stage == client.StageTransferred {
				s.Hold(a.Task, a.Owner, a.Epoch)
			}
			var tree gitApplied
			var failed error // the caller owns the task nevertheless
			if git != "" && a.Content != nil {
				tree, failed = applyGit(ctx, s, c, id, git)
			}
			if git != "" && a.Content != nil && failed == nil && !s.Flags.JSON {
				fmt.Fprintf(s.Stderr, "trapeze: %s\n", tree.line())
			}
			err = s.Emit(a, func(p *shell.Page) { showContent(p, a, id) })
			return errors.Join(failed, err)
		})
	cmd.Long = `Accept an offer, and print the content that comes with it and nothing else, so that the sender's token budget is that of the
output: from now on you own the task. --json adds the receipt. The id of the task stands for that of its offer.

With --git the working tree that was sent with trapeze send --git is applied, and standard error names it. The clone must have its commit and no
uncommitted changes, or else the offer is not accepted. If the sender has yet to confirm, the content comes later: apply the working tree
then with trapeze handoff apply.`
	gitFlag(cmd.Flags(), &git, "apply the sender's git working tree to the current directory, or to --git=DIR")
	cmd.Flags().IntVar(&in.Offer, "offer", 0, "number of the offer; an offer that has ended is refused (default: the newest)")
	return cmd
}

// showContent prints the content as the model of the caller is to read it; the receipt while there is none.
func showContent(p *shell.Page, a client.Accepted, id string) {
	if a.Content != nil {
		p.Block(a.Content.Prompt)
		return
	}
	p.Receipt(a.Receipt)
	p.Line("")
	p.Next("The content is available once the sender has confirmed: %s", shellword.Command("trapeze envelope render", id))
}
