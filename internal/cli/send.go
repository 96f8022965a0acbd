package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/memory"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// sendFlags say how a task is handed off.
type sendFlags struct {
	in       client.SendInput
	content  shell.ContentFlags
	expected expectedFlags
	kind     string
	fanIn    string
	reason   string
	confirm  string
	retries  int
	git      string // the directory of a working tree that goes along
	bind     []string
	set      *pflag.FlagSet
}

func (h *sendFlags) add(f *pflag.FlagSet) {
	h.set = f
	f.StringSliceVar(&h.in.To, "to", nil, "agents, in order of preference (repeatable), auto for where the policy says, or human:DESK (default: the next on the task's route)")
	f.StringVar(&h.in.Capability, "capability", "", "what the receiver must be able to do, instead of, or beside, a name")
	f.StringVar(&h.in.Channel, "channel", "", "publish to whoever subscribes to this channel now, instead of naming receivers")
	f.StringVar(&h.kind, "kind", "", "warm, cold, supervised, broadcast or delegation (default warm)")
	f.BoolVar(&h.in.FanOut, "fan-out", false, "with --kind broadcast or --channel: every receiver gets a copy; otherwise the first to accept wins")
	f.StringVar(&h.fanIn, "fan-in", "", "of a fan-out or delegation: all, first, none or quorum:N (default all)")
	f.StringVar(&h.reason, "reason", "", "user_request, specialization, error, escalation, … (default user_request)")
	f.StringVar(&h.in.Detail, "detail", "", "the reason in words (text, @FILE or -)")
	f.StringVar(&h.confirm, "confirm", "", "auto or explicit: you let go with trapeze confirm (default auto)")
	f.IntVar(&h.retries, "retries", 3, "offers to a receiver after the first that went unanswered")
	f.BoolVar(&h.in.ReturnHome, "return-home", false, "when nobody is left to try: back to you, not to the dead letters")
	f.StringVar(&h.in.Approver, "approver", "", "of a supervised handoff: an agent (default: any operator)")
	shell.PackFlags(f, &h.in.Pack)
	h.content.Add(f)
	memory.GitFlag(f, &h.git, "let the git working tree here, or in --git=DIR, go along with its uncommitted changes")
}

// addOwn adds the flags that a created task has of its own, so that they are not there twice.
func (h *sendFlags) addOwn(f *pflag.FlagSet) {
	f.StringArrayVar(&h.bind, "constraint", nil, "KIND:TEXT, a rule for whoever holds it from now on; KIND!:TEXT must hold (repeatable)")
	f.StringSliceVar(&h.in.Permissions, "permission", nil, "a part of the task's permissions (repeatable; default: all of them)")
	addTimeouts(f, &h.in.Timeouts)
	addBudget(f, &h.in.Budget, "of each child of a fan-out or delegation")
	h.expected.add(f, "of a fan-out or delegation: ")
}

func addTimeouts(f *pflag.FlagSet, t *client.Timeouts) {
	f.Var((*shell.Duration)(&t.Offer), "offer-timeout", "how long an offer may stay unseen (default 10m)")
	f.Var((*shell.Duration)(&t.Ack), "ack-timeout", "how long a receiver that has seen it may take to answer (default 15s)")
	f.Var((*shell.Duration)(&t.Approval), "approval-timeout", "how long an approval may take (default 24h)")
	f.Var((*shell.Duration)(&t.Answer), "answer-timeout", "how long people have: to take it, with it, and to answer (default 24h)")
	f.Var((*shell.Duration)(&t.Confirm), "confirm-timeout", "how long an explicit confirm may take (default 1m)")
	f.Var((*shell.Duration)(&t.Lease), "lease", "how long an owner may show no life (default 30m)")
	f.Var((*shell.Duration)(&t.Progress), "progress-timeout", "how long an owner may report no progress (default: no end)")
	f.Var((*shell.Duration)(&t.Wait), "wait-timeout", "how long to wait for children (default: no end)")
}

func addBudget(f *pflag.FlagSet, b *client.Spend, of string) {
	f.Int64Var(&b.Tokens, "budget-tokens", 0, "tokens, as agents report them, "+of)
	f.Int64Var(&b.Cost, "budget-cost", 0, "cost in millionths, as agents report it, "+of)
}

// expectedFlags say what a result must look like.
type expectedFlags struct {
	in     client.Expected
	schema string
}

func (e *expectedFlags) add(f *pflag.FlagSet, of string) {
	f.StringVar(&e.in.Format, "expect-format", "", of+"what the result is, such as markdown")
	f.IntVar(&e.in.MaxBytes, "expect-max-bytes", 0, of+"the longest that it may be")
	f.StringArrayVar(&e.in.Criteria, "expect", nil, of+"what a good result fulfils (repeatable)")
	f.StringVar(&e.schema, "expect-schema", "", of+"JSON Schema of the result, @FILE or -")
}

func (e *expectedFlags) expected(s *commands) (out client.Expected, err error) {
	out = e.in
	out.Schema, err = s.Document("--expect-schema", e.schema)
	return out, err
}

// given reports whether any of the flags was used: then a created task is handed off at once.
func (h *sendFlags) given() bool {
	return len(h.in.To) > 0 || h.in.Capability != "" || h.in.Channel != "" || h.kind != "" || h.in.FanOut || h.confirm != "" || h.in.Approver != ""
}

func (h *sendFlags) input(s *commands) (client.SendInput, error) {
	in := h.in
	in.Kind, in.Reason, in.Confirm = client.Kind(h.kind), client.Reason(h.reason), client.ConfirmMode(h.confirm)
	if h.set.Changed("retries") {
		in.Retries = &h.retries
	}
	mode, quorum, ok := strings.Cut(h.fanIn, ":")
	in.FanIn.Mode = client.FanInMode(mode)
	if ok {
		n, err := strconv.Atoi(quorum)
		if err != nil {
			return in, shell.Usagef("--fan-in quorum:%s: how many is no number", quorum)
		}
		in.FanIn.Quorum = n
	}
	if err := s.Texts(&in.Detail); err != nil {
		return in, err
	}
	var err error
	if in.Constraints, err = client.ParseConstraints(h.bind); err != nil {
		return in, shell.Usage(err)
	}
	if in.Content, err = h.content.Content(s.Shell); err != nil {
		return in, err
	}
	in.Expected, err = h.expected.expected(s)
	return in, err
}

// attach lets files and a working tree go along, if any were named.
func (h *sendFlags) attach(ctx context.Context, s *commands, c *client.Client, content *client.Content) error {
	if err := h.content.Attach(ctx, c, content); err != nil || h.git == "" {
		return err
	}
	list, err := memory.TakeGit(ctx, s.Shell, c, h.git)
	content.Artifacts = append(content.Artifacts, list...)
	return err
}

func (s *commands) sendCommand() *cobra.Command {
	var h sendFlags
	var epoch uint64
	cmd := s.Command("send [TASK]", "Hand a task off", cobra.MaximumNArgs(1), func(ctx context.Context, args []string) error {
		task, _, err := s.TaskArg(args, 0)
		if err != nil {
			return err
		}
		in, err := h.input(s)
		if err != nil {
			return err
		}
		c, err := s.Dial(ctx)
		if err != nil {
			return err
		}
		if in.Epoch, err = s.EpochOf(ctx, c, task, epoch); err != nil {
			return err
		}
		if err := h.attach(ctx, s, c, &in.Content); err != nil {
			return err
		}
		r, err := c.Send(ctx, task, in)
		return s.EmitReceipt(r, err)
	})
	cmd.Long = `Hand a task off: to agents by name, to whoever has a capability or subscribes to a channel, where the policy says (--to auto), to people
(--to human:DESK), or along the task's route. It returns at once; the
task is yours until a receiver has accepted, and comes back, goes to a fallback or to the dead letters if none does.

In a program started by "trapeze work" the task need not be named: trapeze send --to reviewer

With --git the state of a working tree goes along: its commit, which the receiver must be able to fetch, and a patch of what
is not committed, new files too. The receiver gets it with trapeze accept --git.`
	h.add(cmd.Flags())
	h.addOwn(cmd.Flags())
	shell.EpochFlag(cmd.Flags(), &epoch)
	return cmd
}
