package envelope

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/content/drift"
	"github.com/trapezehq/trapeze/internal/content/envelope"
)

// Command is the command group trapeze envelope.
func Command(s *shell.Shell) *cobra.Command {
	return shell.Group("envelope", "Show, preview and compare envelopes: what a receiver gets with a task",
		envelopeShow(s), envelopeRender(s), envelopePreview(s), envelopeDiff(s))
}

const whichEnvelope = `ID is that of a task (its newest envelope), of a handoff or of a share. By default this is the envelope as packed for the
receiver's token budget; --source shows the one that was sent. The read is recorded.`

func envelopeShow(s *shell.Shell) *cobra.Command {
	var in client.ContentInput
	cmd := s.Call("show ID", "Print an envelope as JSON", cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		content, err := c.Content(ctx, args[0], in)
		return s.Answer(content, err, func(p *shell.Page) {
			if len(content.Copies) == 0 {
				p.Block(shell.Indented(content.Envelope))
			}
			for _, k := range content.Copies {
				p.Block(shell.Indented(k.Envelope))
			}
		})
	})
	cmd.Flags().IntSliceVar(&in.Majors, "major", nil, "print it in this major version of the schema, for readers of older versions (repeatable)")
	cmd.Long = "Print an envelope as JSON; --json adds its digest.\n\n" + whichEnvelope
	cmd.Flags().BoolVar(&in.Source, "source", false, "the envelope as sent, not as packed for the receiver")
	return shell.Example(cmd, "trapeze envelope show $TASK.h1 --source")
}

func envelopeRender(s *shell.Shell) *cobra.Command {
	in := client.ContentInput{Render: true, Via: client.ViaCLI}
	cmd := s.Call("render ID", "Print an envelope as the prompt that its receiver gets", cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		content, err := c.Content(ctx, args[0], in)
		return s.Answer(content, err, func(p *shell.Page) { p.Block(content.Prompt) })
	})
	cmd.Long = "Print an envelope as the prompt that its receiver gets.\n\n" + whichEnvelope
	cmd.Flags().BoolVar(&in.Source, "source", false, "the envelope as sent, not as packed for the receiver")
	return shell.Example(cmd, "trapeze envelope render $TASK")
}

// Parts is the command trapeze parts.
func Parts(s *shell.Shell) *cobra.Command {
	in := client.PartsInput{Via: client.ViaCLI}
	cmd := s.Call("parts ID PART...", "Print parts of an envelope, such as those left out of a prompt", cobra.MinimumNArgs(2),
		func(ctx context.Context, c *client.Client, args []string) error {
			in.Parts = args[1:]
			parts, err := c.Parts(ctx, args[0], in)
			return s.Answer(parts, err, func(p *shell.Page) { p.Block(parts.Text) })
		})
	cmd.Long = `Print parts of an envelope, such as those left out of a prompt. ID is that of a task, of a handoff or of a share.

A PART is a fact (fact:f1), a decision (decision:d2), the reasoning of one (reasoning:d2), a step of the history (step:3), a
memory item (memory:ID), a file that is a short text (artifact:DIGEST), data, summary, state, detail, notes or conversation; a
range (fact:f3-f9); a kind alone (fact) for all of it that was left out; or all. The read is recorded.`
	cmd.Flags().IntVar(&in.Tokens, "tokens", 0, "maximum size in tokens, up to 32000 (default 4000, or half the agent's context window if that is less); the output says how to get the rest")
	cmd.Flags().IntVar(&in.After, "after", 0, "continue after the previous output")
	return shell.Example(cmd, "trapeze parts $TASK fact:f12 step:4 data")
}

func envelopePreview(s *shell.Shell) *cobra.Command {
	var in client.PreviewInput
	var content shell.ContentFlags
	cmd := s.Command("preview [TASK]", "Preview the prompt that a receiver would get, with its size in tokens", cobra.MaximumNArgs(1),
		func(ctx context.Context, args []string) error {
			task, _, err := s.TaskArg(args, 0)
			if err != nil {
				return err
			}
			c, err := s.Dial(ctx)
			if err != nil {
				return err
			}
			if in.Content, err = content.Read(ctx, s, c); err != nil {
				return err
			}
			v, err := c.PreviewEnvelope(ctx, task, in)
			return s.Answer(v, err, func(p *shell.Page) { previewPage(p, v) })
		})
	cmd.Long = `Preview the prompt that a receiver would get if the task were handed off now with these flags. Nothing is sent. Callers that
could hand the task off can do this.`
	cmd.Flags().StringVar(&in.To, "to", "", "agent whose context window and tokenizer apply (default: none)")
	shell.PackFlags(cmd.Flags(), &in.Pack)
	content.Add(cmd.Flags())
	return shell.Example(cmd, "trapeze envelope preview $TASK --to reviewer --tokens 2000")
}

func previewPage(p *shell.Page, v client.Preview) {
	tokens := fmt.Sprint(v.Tokens)
	if v.Budget > 0 {
		tokens += fmt.Sprintf(" of %d", v.Budget)
	}
	if v.Estimate {
		tokens += ", at most"
	}
	p.Fields([]shell.Field{
		{"tokens", tokens}, {"tokenizer", v.Tokenizer}, {"completeness", fmt.Sprintf("%d %%", int(v.Completeness*100+1e-9))}, {"version", v.Version}, {"would be stopped", v.Stop},
	})
	p.Line("")
	p.Block(v.Prompt)
}

func envelopeDiff(s *shell.Shell) *cobra.Command {
	cmd := s.Call("diff ID [ID]", "Compare two envelopes, or an envelope as sent and as received", cobra.RangeArgs(1, 2),
		func(ctx context.Context, c *client.Client, args []string) error {
			chain := make([]envelope.Envelope, 2)
			for i := range chain {
				in := client.ContentInput{Source: len(args) == 1 && i == 0}
				content, err := c.Content(ctx, args[min(i, len(args)-1)], in)
				if err != nil {
					return err
				}
				if chain[i], _, err = envelope.Open(content.Envelope); err != nil {
					return err
				}
			}
			r := drift.Of(chain)
			return s.Emit(r, func(p *shell.Page) { p.Block(drift.Table(r)) })
		})
	cmd.Long = `Compare the facts, decisions, constraints and references of two envelopes. With a single ID, compare the envelope as sent with
the envelope as received. An ID is that of a task, of its newest handoff, or of a share. The reads are recorded.

To compare all hops of a task: trapeze drift TASK`
	return shell.Example(cmd, "trapeze envelope diff $TASK.h1")
}
