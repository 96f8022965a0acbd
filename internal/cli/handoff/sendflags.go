package handoff

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/cli/usage"
)

// SendFlags are the flags that describe a handoff: receivers, kind, reason and content. The zero value is ready for
// [SendFlags.Add].
type SendFlags struct {
	In client.SendInput // set by flags; see [SendFlags.Input] for the rest

	content     shell.ContentFlags
	expected    client.Expected
	schema      string // JSON, @FILE or -
	kind        string
	fanIn       string
	reason      string
	confirm     string
	retries     int
	git         string // directory of the git working tree that is sent along; empty: none
	constraints []string
	set         *pflag.FlagSet
}

// Add defines the flags that task create and send share, but for those of AddExpected.
func (h *SendFlags) Add(f *pflag.FlagSet) {
	h.set = f
	f.StringSliceVar(&h.In.To, "to", nil, "receiver: an agent, in order of preference (repeatable); auto to let the policy choose; human:DESK for people (default: the next agent on the task's route)")
	f.StringVar(&h.In.Capability, "capability", "", "capability that the receiver must have, instead of or in addition to --to")
	f.StringVar(&h.In.Channel, "channel", "", "publish to the current subscribers of this channel, instead of --to")
	shell.Choice(f, &h.kind, "kind", "", "%s (default warm)", client.Kinds())
	f.BoolVar(&h.In.FanOut, "fan-out", false, "with --kind broadcast or --channel: give every receiver a copy; otherwise the first to accept gets the task")
	shell.ChoiceOr(f, &h.fanIn, "fan-in", "", "results to wait for, with a fan-out or delegation: %s; quorum as quorum:N (default all)", client.FanInModes(), "quorum:")
	shell.Choice(f, &h.reason, "reason", "", "%s (default user_request)", client.Reasons())
	f.StringVar(&h.In.Detail, "detail", "", "reason in words, shown to the receiver (text, @FILE or -)")
	shell.Choice(f, &h.confirm, "confirm", "", "%s: with explicit, the sender keeps the task until trapeze confirm (default auto)", client.ConfirmModes())
	f.IntVar(&h.retries, "retries", 3, "how often to offer again to a receiver that does not answer")
	f.BoolVar(&h.In.ReturnHome, "return-home", false, "return the task to you, not to the dead letters, when no receiver is left")
	f.StringVar(&h.In.Approver, "approver", "", "agent that approves a supervised handoff (default: any operator)")
	shell.PackFlags(f, &h.In.Pack)
	h.content.Add(f)
	gitFlag(f, &h.git, "send the git working tree in the current directory, or in --git=DIR, with its uncommitted changes")
}

// FlagGroups are the groups of flags that the help pages of send and task create show: first the usual ones, by their names.
func FlagGroups(usual string) []usage.FlagGroup {
	groups := []usage.FlagGroup{
		{Title: "Usual flags", Names: usual},
		{Title: "The receiver and how it gets the task", Names: "to capability channel kind route send reason detail approver confirm permission epoch"},
		{Title: "Several receivers", Names: "fan-out fan-in"},
		{Title: "What the receiver reads", Names: "ask state conversation-summary notes fact decision question step data confidence expires memory recent artifact git conversation content"},
		{Title: "The size of what it reads", Names: "tokens strategy pin"},
		{Title: "The result", Names: "constraint expect expect-format expect-max-bytes expect-schema"},
		{Title: "When nobody answers", Names: "retries return-home offer-timeout ack-timeout approval-timeout answer-timeout confirm-timeout wait-timeout lease progress-timeout"},
		{
			Title: "Limits and order",
			Names: "priority deadline after tag subject budget-tokens budget-cost limit-hops limit-handoffs limit-visits limit-escalations limit-attempts limit-tasks",
		},
		{Title: "From elsewhere", Names: "from claimed-history"},
	}
	first := strings.Fields(usual)
	for i := range groups[1:] {
		g := &groups[i+1]
		g.Names = strings.Join(slices.DeleteFunc(strings.Fields(g.Names), func(name string) bool { return slices.Contains(first, name) }), " ")
	}
	return groups
}

// addOwn defines the flags of send that task create defines for the task itself.
func (h *SendFlags) addOwn(f *pflag.FlagSet) {
	f.StringArrayVar(&h.constraints, "constraint", nil, "add a constraint on all later owners, as KIND:TEXT; KIND!:TEXT is mandatory; TEXT alone is a prohibition (never, no, do not) or a preference (repeatable)")
	shell.AllowedFlag(f, &h.In.Permissions, "permission", "restrict the task to these of its permissions, or none for no permissions (repeatable; default: all of them)")
	AddTimeouts(f, &h.In.Timeouts)
	AddBudget(f, &h.In.Budget, "for each child of a fan-out or delegation")
	h.AddExpected(f, "with a fan-out or delegation: ")
}

// AddTimeouts defines the flags of a task's time limits.
func AddTimeouts(f *pflag.FlagSet, t *client.Timeouts) {
	f.Var((*shell.Duration)(&t.Offer), "offer-timeout", "how long an offer may stay unseen (default 10m)")
	f.Var((*shell.Duration)(&t.Ack), "ack-timeout", "how long a receiver may take to answer an offer that it has seen (default 15s, at least 5s)")
	f.Var((*shell.Duration)(&t.Approval), "approval-timeout", "how long an approval may take (default 24h)")
	f.Var((*shell.Duration)(&t.Answer), "answer-timeout", "how long people may take to claim a ticket, and to answer it, and an agent to take up a task that came back to it (default 24h)")
	f.Var((*shell.Duration)(&t.Confirm), "confirm-timeout", "how long an explicit confirmation may take (default 1m)")
	f.Var((*shell.Duration)(&t.Lease), "lease", "how long an owner may go without a heartbeat (default 30m)")
	f.Var((*shell.Duration)(&t.Progress), "progress-timeout", "how long an owner may go without reporting progress (default: no limit)")
	f.Var((*shell.Duration)(&t.Wait), "wait-timeout", "how long to wait for children (default: no limit)")
}

// AddBudget defines the flags of a budget; of says whose it is.
func AddBudget(f *pflag.FlagSet, b *client.Spend, of string) {
	f.Int64Var(&b.Tokens, "budget-tokens", 0, "budget in tokens, as agents report them, "+of)
	f.Int64Var(&b.Cost, "budget-cost", 0, "budget in millionths of the currency, as agents report it, "+of)
}

// AddExpected defines the flags of what a result must look like; of says when they apply.
func (h *SendFlags) AddExpected(f *pflag.FlagSet, of string) {
	f.StringVar(&h.expected.Format, "expect-format", "", of+"format of the result, such as markdown")
	f.IntVar(&h.expected.MaxBytes, "expect-max-bytes", 0, of+"maximum size of the result, in bytes")
	f.StringArrayVar(&h.expected.Criteria, "expect", nil, of+"criterion that a good result meets (repeatable)")
	f.StringVar(&h.schema, "expect-schema", "", of+"JSON Schema of the result (JSON, @FILE or -)")
}

// Given reports whether a flag was used that makes task create hand the new task off at once.
func (h *SendFlags) Given() bool {
	return len(h.In.To) > 0 || h.In.Capability != "" || h.In.Channel != "" || h.kind != "" || h.In.FanOut || h.confirm != "" || h.In.Approver != ""
}

// Input reads the flags, and the files that they name, but for those that [SendFlags.Attach] uploads.
func (h *SendFlags) Input(ctx context.Context, s *shell.Shell) (client.SendInput, error) {
	in := h.In
	in.Kind, in.Reason, in.Confirm = client.Kind(h.kind), client.Reason(h.reason), client.ConfirmMode(h.confirm)
	if h.set.Changed("retries") {
		in.Retries = &h.retries
	}
	mode, quorum, ok := strings.Cut(h.fanIn, ":")
	in.FanIn.Mode = client.FanInMode(mode)
	if ok {
		n, err := strconv.Atoi(quorum)
		if err != nil {
			return in, shell.Usagef("--fan-in quorum:%s: the quorum is not a number", quorum)
		}
		in.FanIn.Quorum = n
	}
	if err := s.Texts(&in.Detail); err != nil {
		return in, err
	}
	var err error
	if in.Constraints, err = Constraints(h.constraints); err != nil {
		return in, shell.Usage(err)
	}
	if in.Content, err = h.content.Content(ctx, s); err != nil {
		return in, err
	}
	in.Expected = h.expected
	in.Expected.Schema, err = s.Document("--expect-schema", h.schema)
	return in, err
}

// Attach uploads the files and the git working tree that the flags name, and adds them to the content.
func (h *SendFlags) Attach(ctx context.Context, s *shell.Shell, c *client.Client, content *client.Content) error {
	if err := h.content.Attach(ctx, c, content); err != nil || h.git == "" {
		return err
	}
	list, err := uploadGit(ctx, s, c, h.git)
	content.Artifacts = append(content.Artifacts, list...)
	return err
}
