package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/memory"
	"github.com/trapezehq/trapeze/internal/cli/policy"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

func (s *commands) inboxCommand() *cobra.Command {
	var o client.InboxOptions
	var wait shell.Duration
	cmd := s.Call("inbox", "See what waits for you, and wait for it", shell.NoArgs, func(ctx context.Context, c *client.Client, _ []string) error {
		box, err := waitInbox(ctx, c, o, time.Duration(wait))
		if err != nil {
			return err
		}
		return s.Emit(box, func(p *shell.Page) { inboxTable(p, box.Items) })
	})
	cmd.Long = `See what waits for the agent that you are (--agent NAME), highest priority first. An offer that is listed counts as
seen, and its acknowledgment clock runs; --peek looks without that. Operators see the approvals that anybody may give.
A question that was asked of you by name is here until it is answered, or goes on to a desk: trapeze ticket answer.

"resumed" says that a task is yours to go on with: what came of a delegation or a fan-out is in, or an answer of people,
or a handoff came back. trapeze task show has it all. It is here until you report progress, or end the task or hand it on.
"stranded" names a child that your task waits for and that is in the dead letters: trapeze task cancel ID goes on without
it, or an operator replays it.

--wait alone waits 30s for the first item; --wait=10m waits longer. It ends with the exit code 0 and an empty list. With
--after POSITION what waited already at an earlier answer is left out, and does not end the wait; an offer that is made again
comes again.`
	f := cmd.Flags()
	f.Var(&wait, "wait", "wait for the first item")
	f.Lookup("wait").NoOptDefVal = "30s"
	f.Uint64Var(&o.After, "after", 0, "only what came after this position: that of an earlier answer (--json)")
	f.IntVar(&o.Limit, "limit", 0, "at most so many, up to 500 (default 10)")
	f.BoolVar(&o.Peek, "peek", false, "look without taking note")
	f.StringVar(&o.Agent, "of", "", "another agent's inbox, for operators and auditors")
	return cmd
}

// waitInbox waits as long as asked, in calls that are short enough for anything between here and the server.
func waitInbox(ctx context.Context, c *client.Client, o client.InboxOptions, wait time.Duration) (client.Inbox, error) {
	end := time.Now().Add(wait)
	for {
		o.Wait = min(max(time.Until(end), 0), client.MaxWait)
		box, err := c.Inbox(ctx, o)
		if err != nil || len(box.Items) > 0 || !time.Now().Before(end) {
			return box, err
		}
	}
}

func inboxTable(p *shell.Page, items []client.Item) {
	var rows [][]string
	for _, i := range items {
		rows = append(rows, []string{i.Type, i.ID, i.From, string(i.Priority), string(i.Kind), shell.Clock(i.Ends), shell.Clip(i.Intent, 60)})
	}
	p.Table("Nothing waits.", []string{"TYPE", "ID", "FROM", "PRIORITY", "KIND", "ENDS", "INTENT"}, rows)
}

func (s *commands) handoffCommand() *cobra.Command {
	return shell.Group("handoff", "Look at one handoff, put its working tree in place, or take it back", s.handoffShow(), memory.HandoffApply(s.Shell), s.handoffWithdraw())
}

func (s *commands) handoffShow() *cobra.Command {
	return s.Call("show ID", "Show how a handoff stands", cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		h, err := c.Handoff(ctx, args[0])
		if err != nil {
			return err
		}
		return s.Emit(h, func(p *shell.Page) { handoffPage(p, h) })
	})
}

func handoffPage(p *shell.Page, h client.Handoff) {
	var candidates []string
	for _, c := range h.Candidates {
		who := c.Agent
		if c.Desk != "" {
			who = "human:" + c.Desk
		}
		candidates = append(candidates, who+" ("+c.Tier+")")
	}
	p.Fields([]shell.Field{
		{"handoff", h.ID},
		{"stage", string(h.Stage)},
		{"kind", string(h.Kind)},
		{"from", h.From},
		{"offered to", shell.Names(h.To)},
		{"offer", shell.Number(h.Offer)},
		{"seen by", shell.Names(h.SeenBy)},
		{"receiver", h.Receiver},
		{"reason", string(h.Reason)},
		{"detail", h.Detail},
		{"candidates", shell.Names(candidates)},
		{"requested", shell.Clock(h.Requested)},
		{"offer ends", shell.Clock(h.OfferEnds)},
		{"answer due", shell.Clock(h.AckEnds)},
		{"next try", shell.Clock(h.RetryAt)},
		{"approval ends", shell.Clock(h.ApprovalEnds)},
		{"approver", h.Approver},
		{"confirm due", shell.Clock(h.ConfirmEnds)},
		{"ended", shell.Clock(h.Ended)},
		{"channel", h.Channel},
		{"why", h.Why},
	})
	if h.Decision != nil {
		p.Line("\nSent there by the policy:")
		policy.ShowDecision(p, *h.Decision)
	}
}

func (s *commands) handoffWithdraw() *cobra.Command {
	cmd := s.taskCancel()
	cmd.Use, cmd.Short = "withdraw ID", "Take a handoff under way back, as its source"
	return cmd
}

func (s *commands) acceptCommand() *cobra.Command {
	in := client.AcceptInput{Render: true}
	var git string
	cmd := s.Call("accept HANDOFF", "Take an offer, and print the content that comes with it", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) error {
			if git != "" {
				if err := memory.TryGit(ctx, c, args[0], git); err != nil {
					return err
				}
			}
			a, err := c.Accept(ctx, args[0], in)
			if err != nil {
				return err
			}
			var tree memory.GitApplied
			var failed error // the task is the caller's all the same
			if git != "" && a.Content != nil {
				tree, failed = memory.ApplyGit(ctx, c, args[0], git)
			}
			err = s.Emit(a, func(p *shell.Page) {
				p.Receipt(a.Receipt)
				if git != "" && a.Content != nil && failed == nil {
					p.Line("")
					tree.Print(p)
				}
				acceptedContent(p, a, args[0])
			})
			return errors.Join(failed, err)
		})
	cmd.Long = `Take an offer, and print the content that comes with it. With --git the working tree that was handed over with trapeze send
--git is put in place: the clone must have its commit and no changes of its own, or the offer is left alone. Where that
cannot be told before, or the source has yet to confirm, trapeze handoff apply does it later.`
	memory.GitFlag(cmd.Flags(), &git, "make the git working tree here, or in --git=DIR, the one that was handed over")
	cmd.Flags().IntVar(&in.Offer, "offer", 0, "number of the offer; one that is over is refused (default: the newest)")
	return cmd
}

func acceptedContent(p *shell.Page, a client.Accepted, id string) {
	if a.Content == nil {
		p.Line("\nThe content comes when the source has confirmed: trapeze envelope render %s", id)
		return
	}
	p.Line("")
	p.Block(a.Content.Prompt)
}

func (s *commands) rejectCommand() *cobra.Command {
	var in client.RejectInput
	var reason string
	cmd := s.Command("reject HANDOFF", "Turn an offer down; it goes to the next candidate, or back", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error {
			in.Why = client.Rejection(reason)
			if err := s.Texts(&in.Detail); err != nil {
				return err
			}
			c, err := s.Dial(ctx)
			if err != nil {
				return err
			}
			r, err := c.Reject(ctx, args[0], in)
			return s.EmitReceipt(r, err)
		})
	f := cmd.Flags()
	f.StringVar(&reason, "reason", "refused", "not_capable, overloaded, missing_context or refused")
	f.StringSliceVar(&in.Missing, "missing", nil, "with missing_context: a field that you would need (repeatable)")
	whyFlag(f, &in.Detail)
	f.IntVar(&in.Offer, "offer", 0, "number of the offer (default: the newest)")
	return cmd
}

func (s *commands) confirmCommand() *cobra.Command {
	var in client.ConfirmInput
	var content shell.ContentFlags
	cmd := s.Command("confirm HANDOFF", "Let go of a task that was accepted, as the source of a handoff with explicit confirm", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error {
			c, err := content.Dial(ctx, s.Shell, &in.Content)
			if err != nil {
				return err
			}
			task, _ := taskOf(args[0])
			if in.Epoch, err = s.EpochOf(ctx, c, task, in.Epoch); err != nil {
				return err
			}
			r, err := c.Confirm(ctx, args[0], in)
			return s.EmitReceipt(r, err)
		})
	content.Add(cmd.Flags())
	shell.EpochFlag(cmd.Flags(), &in.Epoch)
	return cmd
}

// whyFlag defines --why, the words of whoever acts; what the receiver of a handoff is told is --detail.
func whyFlag(f *pflag.FlagSet, why *string) {
	f.StringVar(why, "why", "", "why, in words (text, @FILE or -)")
}

// taskOf is the task that the id of a handoff, an ask or a share belongs to, and whether it is a handoff's.
func taskOf(id string) (task string, isHandoff bool) {
	task, part, _ := strings.Cut(id, ".")
	return task, strings.HasPrefix(part, "h")
}

func (s *commands) shareCommand() *cobra.Command {
	var in client.ShareInput
	var content shell.ContentFlags
	cmd := s.Command("share [TASK] --to AGENT", "Give a task's context to another agent; the task stays where it is", cobra.MaximumNArgs(1),
		func(ctx context.Context, args []string) error {
			task, _, err := s.TaskArg(args, 0)
			if err != nil {
				return err
			}
			if in.To == "" {
				return shell.Usagef("say to whom: --to AGENT")
			}
			if err := s.Texts(&in.Detail); err != nil {
				return err
			}
			c, err := content.Dial(ctx, s.Shell, &in.Content)
			if err != nil {
				return err
			}
			if in.Epoch, err = s.EpochOf(ctx, c, task, in.Epoch); err != nil {
				return err
			}
			r, err := c.Share(ctx, task, in)
			return s.EmitReceipt(r, err)
		})
	cmd.Flags().StringVar(&in.To, "to", "", "the agent that gets it")
	cmd.Flags().StringVar(&in.Detail, "detail", "", "why, for the receiver (text, @FILE or -)")
	shell.PackFlags(cmd.Flags(), &in.Pack)
	content.Add(cmd.Flags())
	shell.EpochFlag(cmd.Flags(), &in.Epoch)
	return cmd
}

func (s *commands) takeoverCommand() *cobra.Command {
	var in client.TakeoverInput
	cmd := s.Command("takeover TASK", "Ask for a task; as an operator, take it from its holder and offer it to --to AGENT", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error {
			if err := s.Texts(&in.Detail); err != nil {
				return err
			}
			c, err := s.Dial(ctx)
			if err != nil {
				return err
			}
			r, err := c.Takeover(ctx, args[0], in)
			return s.EmitReceipt(r, err)
		})
	cmd.Flags().StringVar(&in.To, "to", "", "for operators: the agent to offer it to")
	cmd.Flags().StringVar(&in.Detail, "detail", "", "why, for the receiver (text, @FILE or -)")
	return cmd
}

func (s *commands) escalateCommand() *cobra.Command {
	var in client.EscalateInput
	var content shell.ContentFlags
	cmd := s.Command("escalate [TASK]", "Hand a task upwards because it is beyond its holder", cobra.MaximumNArgs(1),
		func(ctx context.Context, args []string) error {
			task, _, err := s.TaskArg(args, 0)
			if err != nil {
				return err
			}
			if err := s.Texts(&in.Detail); err != nil {
				return err
			}
			c, err := content.Dial(ctx, s.Shell, &in.Content)
			if err != nil {
				return err
			}
			if in.Epoch, err = s.EpochOf(ctx, c, task, in.Epoch); err != nil {
				return err
			}
			r, err := c.Escalate(ctx, task, in)
			return s.EmitReceipt(r, err)
		})
	cmd.Flags().StringVar(&in.To, "to", "", "an agent, or human:DESK (default: the next level above where the task stands)")
	cmd.Flags().StringVar(&in.Detail, "detail", "", "why, for the receiver (text, @FILE or -)")
	content.Add(cmd.Flags())
	shell.EpochFlag(cmd.Flags(), &in.Epoch)
	return cmd
}
