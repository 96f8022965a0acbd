package memory

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/content/drift"
	"github.com/trapezehq/trapeze/internal/content/envelope"
)

func envelopes(s *shell.Shell) *cobra.Command {
	return shell.Group("envelope", "Read what travels with a task, and see what a receiver would get",
		envelopeShow(s), envelopeRender(s), envelopePreview(s), envelopeDiff(s))
}

const whichEnvelope = `ID is that of a task, for its newest envelope, of a handoff or of a share. A receiver gets what was packed of an envelope
for its token budget; --source reads what was sent. The read is on record.`

func envelopeShow(s *shell.Shell) *cobra.Command {
	var in client.ContentInput
	cmd := s.Call("show ID", "Print an envelope as JSON", cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		sheet, err := c.Content(ctx, args[0], in)
		if err != nil {
			return err
		}
		return s.Emit(sheet, func(p *shell.Page) {
			if len(sheet.Copies) == 0 {
				p.Block(indented(sheet.Envelope))
			}
			for _, k := range sheet.Copies {
				p.Block(indented(k.Envelope))
			}
		})
	})
	cmd.Flags().IntSliceVar(&in.Majors, "major", nil, "print it in this major of its schema instead, for readers that have not moved yet (repeatable)")
	cmd.Long = "Print an envelope as JSON; with --json, beside its digest.\n\n" + whichEnvelope
	cmd.Flags().BoolVar(&in.Source, "source", false, "what was sent, not what was packed of it for its receiver")
	return example(cmd, "trapeze envelope show $TASK.h1 --source")
}

func envelopeRender(s *shell.Shell) *cobra.Command {
	in := client.ContentInput{Render: true}
	cmd := s.Call("render ID", "Print an envelope as its reader gets it", cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		sheet, err := c.Content(ctx, args[0], in)
		if err != nil {
			return err
		}
		return s.Emit(sheet, func(p *shell.Page) { p.Block(sheet.Prompt) })
	})
	cmd.Long = "Print an envelope as the prompt that its reader gets.\n\n" + whichEnvelope
	cmd.Flags().BoolVar(&in.Source, "source", false, "what was sent, not what was packed of it for its receiver")
	return example(cmd, "trapeze envelope render $TASK")
}

func envelopePreview(s *shell.Shell) *cobra.Command {
	var in client.PreviewInput
	var content shell.ContentFlags
	cmd := s.Command("preview [TASK]", "See what a receiver would get of a task, and how many tokens that has", cobra.MaximumNArgs(1),
		func(ctx context.Context, args []string) error {
			task, _, err := s.TaskArg(args, 0)
			if err != nil {
				return err
			}
			c, err := content.Dial(ctx, s, &in.Content)
			if err != nil {
				return err
			}
			v, err := c.PreviewEnvelope(ctx, task, in)
			if err != nil {
				return err
			}
			return s.Emit(v, func(p *shell.Page) { previewPage(p, v) })
		})
	cmd.Long = `See what a receiver would get of a task if it were handed off now, with what the flags add: nothing is sent. It is for
whoever could hand the task off.`
	cmd.Flags().StringVar(&in.To, "to", "", "the agent whose context window and tokenizer count (default: nobody in particular)")
	shell.PackFlags(cmd.Flags(), &in.Pack)
	content.Add(cmd.Flags())
	return example(cmd, "trapeze envelope preview $TASK --to reviewer --tokens 2000")
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
		{"tokens", tokens}, {"tokenizer", v.Tokenizer}, {"completeness", fmt.Sprintf("%d %%", int(v.Completeness*100+1e-9))}, {"version", v.Version},
	})
	p.Line("")
	p.Block(v.Prompt)
}

func envelopeDiff(s *shell.Shell) *cobra.Command {
	cmd := s.Call("diff ID [ID]", "Compare two envelopes, or what was sent with what its receiver got of it", cobra.RangeArgs(1, 2),
		func(ctx context.Context, c *client.Client, args []string) error {
			chain := make([]envelope.Envelope, 2)
			for i := range chain {
				in := client.ContentInput{Source: len(args) == 1 && i == 0}
				sheet, err := c.Content(ctx, args[min(i, len(args)-1)], in)
				if err != nil {
					return err
				}
				if chain[i], _, err = envelope.Open(sheet.Envelope); err != nil {
					return err
				}
			}
			r := drift.Of(chain)
			return s.Emit(r, func(p *shell.Page) { p.Block(drift.Table(r)) })
		})
	cmd.Long = `Say what became of the facts, decisions, constraints and references of one envelope in another. With one ID: what the
receiver got of what was sent. IDs are those of tasks, of their newest handoffs, or of shares; the reads are on record.
What became of a task over all of its hops is shown by: trapeze drift TASK`
	return example(cmd, "trapeze envelope diff $TASK.h1")
}

func drifts(s *shell.Shell) *cobra.Command {
	cmd := s.TaskCall("drift [TASK]", "Report what each hop of a task kept, changed, left out and dropped", func(ctx context.Context, c *client.Client, task string) error {
		d, err := c.Drift(ctx, task)
		if err != nil {
			return err
		}
		r, err := report(d)
		if err != nil {
			return err
		}
		return s.Emit(d, func(p *shell.Page) { p.Block(drift.Table(r)) })
	})
	cmd.Long = `Report what became of the facts, decisions, constraints and references of a task on its way: each hop compares what was
said with what the next receiver got. The read is on record.`
	return example(cmd, "trapeze drift $TASK")
}

// report is what the server reports in the words of those who write it down.
func report(d client.Drift) (r drift.Report, err error) {
	b, err := json.Marshal(d)
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	return r, err
}

// indented is JSON as people read it; what is none stays as it is.
func indented(doc json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, doc, "", "  ") != nil {
		return string(doc)
	}
	return b.String()
}
