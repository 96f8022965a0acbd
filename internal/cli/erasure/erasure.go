package erasure

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// subjects says what a subject can be.
const subjects = `SUBJECT is task/ID, with the descendants of the task and what was remembered in their course; tag/TAG, which is every task with the tag, as
above; subject/NAME, which is all that was made with the subject NAME, such as patient/4711; conversation/ID, or
conversation/NAME for all that are called so; or memory/ID. The ids of tasks and memory items need no kind before them.`

// Command is the command trapeze erase.
func Command(s *shell.Shell) *cobra.Command {
	var why string
	cmd := s.Call("erase SUBJECT", "Erase content for good; the record of what happened stays", cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		e, err := admin.New(c).Erase(ctx, admin.SubjectInput{Subject: args[0], Why: why})
		return s.Answer(e, err, func(p *shell.Page) { show(p, e) })
	})
	cmd.Long = subjects + `

The server must keep an erasable record: trapeze serve --erasable. Names, times, sizes and digests stay, and every proof still verifies. It is refused while a
task among it has not ended, and under a legal hold. See docs/erasure.md for what stays, such as in backups that were made before.`
	needReason(cmd, &why)
	return shell.Example(cmd, "trapeze erase subject/patient/4711 --why 'request of 2026-11-20'")
}

func show(p *shell.Page, e admin.Erasure) {
	p.Line("%s is erased: %s, %s.", e.Subject, count(e.Streams, "task, conversation or memory item", "tasks, conversations and memory items"), count(e.Files, "file", "files"))
	if e.Left > 0 {
		p.Line("NOT ERASED: %s recorded before the record was erasable; they can still be read.", count(e.Left, "entry, which was", "entries, which were"))
	}
	for _, other := range e.Kept {
		p.Line("NOT ERASED: %s, which has content of it too.", other)
	}
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Hold is the command group trapeze hold.
func Hold(s *shell.Shell) *cobra.Command {
	return shell.Group("hold", "Keep content from being erased, and list what was erased", set(s), lift(s), list(s))
}

func set(s *shell.Shell) *cobra.Command {
	var why string
	cmd := s.Call("set SUBJECT", "Set a legal hold: nothing that the subject names can be erased", cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		all, err := admin.New(c).SetHold(ctx, admin.SubjectInput{Subject: args[0], Why: why})
		return s.Answer(all, err, func(p *shell.Page) { showList(p, all) })
	})
	cmd.Long = subjects
	needReason(cmd, &why)
	return shell.Example(cmd, "trapeze hold set subject/patient/4711 --why 'case 12/2026'")
}

func lift(s *shell.Shell) *cobra.Command {
	var why string
	cmd := s.Call("lift SUBJECT", "Lift a legal hold", cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		all, err := admin.New(c).LiftHold(ctx, admin.SubjectInput{Subject: args[0], Why: why})
		return s.Answer(all, err, func(p *shell.Page) { showList(p, all) })
	})
	needReason(cmd, &why)
	return shell.Example(cmd, "trapeze hold lift subject/patient/4711 --why 'the case is closed'")
}

func list(s *shell.Shell) *cobra.Command {
	var f admin.ErasureFilter
	cmd := s.Call("list", "List the legal holds and what was erased", shell.NoArgs, func(ctx context.Context, c *client.Client, _ []string) error {
		all, err := admin.New(c).Erasures(ctx, f)
		return s.Answer(all, err, func(p *shell.Page) { showList(p, all) })
	})
	shell.TaskFlag(cmd.Flags(), &f.Task, "task", "only holds that keep this task from being erased, and erasures of it")
	cmd.Flags().StringVar(&f.Memory, "memory", "", "the same, of a memory item")
	return shell.Example(cmd, "trapeze hold list")
}

func showList(p *shell.Page, all admin.ErasureList) {
	shell.List(p, "There are no legal holds.", []string{"HELD", "SINCE", "BY", "WHY"}, all.Holds, func(h admin.Hold) []string {
		return []string{h.Subject, shell.Clock(h.At), h.By, shell.OneLine(h.Why)}
	})
	if len(all.Erasures) > 0 {
		p.Line("")
		shell.List(p, "", []string{"ERASED", "AT", "BY", "STATE", "WHY"}, all.Erasures, func(e admin.Erasure) []string {
			state := "finished"
			if e.Finished == nil {
				state = "pending"
			}
			return []string{e.Subject, shell.Clock(e.At), e.By, state, shell.OneLine(e.Why)}
		})
	}
	if !all.Erasable {
		p.Line("\nThe content of this record cannot be erased: see trapeze serve --erasable.")
	}
}

func needReason(cmd *cobra.Command, why *string) {
	cmd.Flags().StringVar(why, "why", "", "reason, in words; the record keeps it (needed)")
	if err := cmd.MarkFlagRequired("why"); err != nil {
		panic(err) // only a flag that does not exist is an error
	}
}
