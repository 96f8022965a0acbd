package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
)

func (s *shell) inboxCommand() *cobra.Command {
	var o client.InboxOptions
	var wait duration
	cmd := s.call("inbox", "See what waits for you, and wait for it", noArgs, func(ctx context.Context, c *client.Client, _ []string) error {
		box, err := waitInbox(ctx, c, o, time.Duration(wait))
		if err != nil {
			return err
		}
		return s.emit(box, func(p *page) { inboxTable(p, box.Items) })
	})
	cmd.Long = `See what waits for the agent that you are (--agent NAME), highest priority first. An offer that is listed counts as
seen, and its acknowledgment clock runs; --peek looks without that. Operators see the approvals that anybody may give.

--wait alone waits 30s for the first item; --wait=10m waits longer. It ends with the exit code 0 and an empty list.`
	f := cmd.Flags()
	f.Var(&wait, "wait", "wait for the first item")
	f.Lookup("wait").NoOptDefVal = "30s"
	f.IntVar(&o.Limit, "limit", 0, "at most so many, up to 500 (default 10)")
	f.BoolVar(&o.Peek, "peek", false, "look without taking note")
	f.StringVar(&o.Agent, "of", "", "another agent's inbox, for operators and auditors")
	return cmd
}

// waitInbox waits as long as asked, in calls that are short enough for anything between here and the server.
func waitInbox(ctx context.Context, c *client.Client, o client.InboxOptions, wait time.Duration) (client.Inbox, error) {
	end := now().Add(wait)
	for {
		o.Wait = min(max(end.Sub(now()), 0), client.MaxWait)
		box, err := c.Inbox(ctx, o)
		if err != nil || len(box.Items) > 0 || !now().Before(end) {
			return box, err
		}
	}
}

func inboxTable(p *page, items []client.Item) {
	var rows [][]string
	for _, i := range items {
		rows = append(rows, []string{i.Type, i.ID, i.From, string(i.Priority), string(i.Kind), clock(i.Ends), clip(i.Intent, 60)})
	}
	p.table("Nothing waits.", []string{"TYPE", "ID", "FROM", "PRIORITY", "KIND", "ENDS", "INTENT"}, rows)
}

func (s *shell) handoffCommand() *cobra.Command {
	return group("handoff", "Look at one handoff, read its content, or take it back", s.handoffShow(), s.handoffContent(), s.handoffWithdraw())
}

func (s *shell) handoffShow() *cobra.Command {
	return s.call("show ID", "Show how a handoff stands", cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		h, err := c.Handoff(ctx, args[0])
		if err != nil {
			return err
		}
		return s.emit(h, func(p *page) { handoffPage(p, h) })
	})
}

func handoffPage(p *page, h client.Handoff) {
	var candidates []string
	for _, c := range h.Candidates {
		candidates = append(candidates, c.Agent+" ("+c.Tier+")")
	}
	p.fields(
		field{"handoff", h.ID}, field{"stage", string(h.Stage)}, field{"kind", string(h.Kind)}, field{"from", h.From},
		field{"offered to", names(h.To)}, field{"offer", count(h.Offer)}, field{"seen by", names(h.SeenBy)},
		field{"receiver", h.Receiver}, field{"reason", string(h.Reason)}, field{"detail", h.Detail},
		field{"candidates", names(candidates)}, field{"requested", clock(h.Requested)}, field{"offer ends", clock(h.OfferEnds)},
		field{"answer due", clock(h.AckEnds)}, field{"next try", clock(h.RetryAt)}, field{"approval ends", clock(h.ApprovalEnds)},
		field{"approver", h.Approver}, field{"confirm due", clock(h.ConfirmEnds)}, field{"ended", clock(h.Ended)}, field{"why", h.Why},
	)
}

func (s *shell) handoffContent() *cobra.Command {
	return s.call("content ID", "Print the content of a task, a handoff or a share as its reader gets it; the read is on record", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) error {
			sheet, err := c.Content(ctx, args[0], true)
			if err != nil {
				return err
			}
			return s.emit(sheet, func(p *page) { p.block(sheet.Prompt) })
		})
}

func (s *shell) handoffWithdraw() *cobra.Command {
	cmd := s.taskCancel()
	cmd.Use, cmd.Short = "withdraw ID", "Take a handoff under way back, as its source"
	return cmd
}

func (s *shell) acceptCommand() *cobra.Command {
	in := client.AcceptInput{Render: true}
	cmd := s.call("accept HANDOFF", "Take an offer, and print the content that comes with it", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) error {
			a, err := c.Accept(ctx, args[0], in)
			if err != nil {
				return err
			}
			return s.emit(a, func(p *page) {
				receiptFields(p, a.Receipt)
				if a.Content == nil {
					p.line("\nThe content comes when the source has confirmed: trapeze handoff content %s", args[0])
					return
				}
				p.line("")
				p.block(a.Content.Prompt)
			})
		})
	cmd.Flags().IntVar(&in.Offer, "offer", 0, "number of the offer; one that is over is refused (default: the newest)")
	return cmd
}

func (s *shell) rejectCommand() *cobra.Command {
	var in client.RejectInput
	var why string
	cmd := s.command("reject HANDOFF", "Turn an offer down; it goes to the next candidate, or back", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error {
			in.Why = client.Rejection(why)
			if err := s.texts(&in.Detail); err != nil {
				return err
			}
			c, err := s.dial(ctx)
			if err != nil {
				return err
			}
			r, err := c.Reject(ctx, args[0], in)
			return s.emitReceipt(r, err)
		})
	f := cmd.Flags()
	f.StringVar(&why, "why", "refused", "not_capable, overloaded, missing_context or refused")
	f.StringSliceVar(&in.Missing, "missing", nil, "with missing_context: a field that you would need (repeatable)")
	f.StringVar(&in.Detail, "detail", "", "in words (text, @FILE or -)")
	f.IntVar(&in.Offer, "offer", 0, "number of the offer (default: the newest)")
	return cmd
}

func (s *shell) confirmCommand() *cobra.Command {
	var in client.ConfirmInput
	var content contentFlags
	cmd := s.command("confirm HANDOFF", "Let go of a task that was accepted, as the source of a handoff with explicit confirm", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) (err error) {
			if in.Content, err = content.content(s); err != nil {
				return err
			}
			c, err := s.dial(ctx)
			if err != nil {
				return err
			}
			task, _ := taskOf(args[0])
			if in.Epoch, err = s.epochOf(ctx, c, task, in.Epoch); err != nil {
				return err
			}
			r, err := c.Confirm(ctx, args[0], in)
			return s.emitReceipt(r, err)
		})
	content.add(cmd.Flags())
	epochFlag(cmd.Flags(), &in.Epoch)
	return cmd
}

func (s *shell) approveCommand() *cobra.Command {
	var in client.ApproveInput
	cmd := s.call("approve ID", "Say yes to a supervised handoff, or to an ask to take your task over", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) (err error) {
			if in.Epoch, err = s.epochOfAsk(ctx, c, args[0], in.Epoch); err != nil {
				return err
			}
			r, err := c.Approve(ctx, args[0], in)
			return s.emitReceipt(r, err)
		})
	cmd.Flags().StringVar(&in.Detail, "detail", "", "in words")
	cmd.Flags().StringVar(&in.Digest, "digest", "", "of the envelope that you looked at; refused if the handoff carries another")
	epochFlag(cmd.Flags(), &in.Epoch)
	return cmd
}

func (s *shell) denyCommand() *cobra.Command {
	var in client.DenyInput
	cmd := s.call("deny ID", "Say no to a supervised handoff, or to an ask to take your task over", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) (err error) {
			if in.Epoch, err = s.epochOfAsk(ctx, c, args[0], in.Epoch); err != nil {
				return err
			}
			r, err := c.Deny(ctx, args[0], in)
			return s.emitReceipt(r, err)
		})
	cmd.Flags().StringVar(&in.Detail, "detail", "", "why")
	epochFlag(cmd.Flags(), &in.Epoch)
	return cmd
}

// epochOfAsk is the epoch that the answer to an ask carries; a handoff's approval carries none.
func (s *shell) epochOfAsk(ctx context.Context, c *client.Client, id string, given uint64) (uint64, error) {
	task, isHandoff := taskOf(id)
	if isHandoff || task == id {
		return given, nil
	}
	return s.epochOf(ctx, c, task, given)
}

// taskOf is the task that the id of a handoff, an ask or a share belongs to, and whether it is a handoff's.
func taskOf(id string) (task string, isHandoff bool) {
	task, part, _ := strings.Cut(id, ".")
	return task, strings.HasPrefix(part, "h")
}

func (s *shell) shareCommand() *cobra.Command {
	var in client.ShareInput
	var content contentFlags
	cmd := s.command("share [TASK] --to AGENT", "Give a task's context to another agent; the task stays where it is", cobra.MaximumNArgs(1),
		func(ctx context.Context, args []string) error {
			task, _, err := s.taskArg(args, 0)
			if err != nil {
				return err
			}
			if in.To == "" {
				return usagef("say to whom: --to AGENT")
			}
			if err := s.texts(&in.Detail); err != nil {
				return err
			}
			if in.Content, err = content.content(s); err != nil {
				return err
			}
			c, err := s.dial(ctx)
			if err != nil {
				return err
			}
			if in.Epoch, err = s.epochOf(ctx, c, task, in.Epoch); err != nil {
				return err
			}
			r, err := c.Share(ctx, task, in)
			return s.emitReceipt(r, err)
		})
	cmd.Flags().StringVar(&in.To, "to", "", "the agent that gets it")
	cmd.Flags().StringVar(&in.Detail, "detail", "", "why (text, @FILE or -)")
	content.add(cmd.Flags())
	epochFlag(cmd.Flags(), &in.Epoch)
	return cmd
}

func (s *shell) takeoverCommand() *cobra.Command {
	var in client.TakeoverInput
	cmd := s.command("takeover TASK", "Ask for a task; as an operator, take it from its holder and offer it to --to AGENT", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error {
			if err := s.texts(&in.Detail); err != nil {
				return err
			}
			c, err := s.dial(ctx)
			if err != nil {
				return err
			}
			r, err := c.Takeover(ctx, args[0], in)
			return s.emitReceipt(r, err)
		})
	cmd.Flags().StringVar(&in.To, "to", "", "for operators: the agent to offer it to")
	cmd.Flags().StringVar(&in.Detail, "detail", "", "why (text, @FILE or -)")
	return cmd
}

func (s *shell) escalateCommand() *cobra.Command {
	var in client.EscalateInput
	var content contentFlags
	cmd := s.command("escalate [TASK]", "Hand a task upwards because it is beyond its holder", cobra.MaximumNArgs(1),
		func(ctx context.Context, args []string) error {
			task, _, err := s.taskArg(args, 0)
			if err != nil {
				return err
			}
			if err := s.texts(&in.Detail); err != nil {
				return err
			}
			if in.Content, err = content.content(s); err != nil {
				return err
			}
			c, err := s.dial(ctx)
			if err != nil {
				return err
			}
			if in.Epoch, err = s.epochOf(ctx, c, task, in.Epoch); err != nil {
				return err
			}
			r, err := c.Escalate(ctx, task, in)
			return s.emitReceipt(r, err)
		})
	cmd.Flags().StringVar(&in.To, "to", "", "an agent (default: the first in the owner's escalation chain)")
	cmd.Flags().StringVar(&in.Detail, "detail", "", "why (text, @FILE or -)")
	content.add(cmd.Flags())
	epochFlag(cmd.Flags(), &in.Epoch)
	return cmd
}
