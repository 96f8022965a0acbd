package memory

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// Command is the command group trapeze memory.
func Command(s *shell.Shell) *cobra.Command {
	return shell.Group("memory", "Add, search, revise and forget what agents know beyond one task",
		memoryAdd(s), memoryGet(s), memoryVersions(s), memoryList(s), memorySearch(s), memoryRevise(s),
		memoryPin(s),
		memoryVerb(s, "unpin", "Include an item only where it is relevant again", (*client.Client).Unpin),
		memoryTag(s), memoryWeigh(s),
		memoryForget(s))
}

func memoryAdd(s *shell.Shell) *cobra.Command {
	var in client.RememberInput
	var scope string
	cmd := s.Command("add TEXT", "Add an item", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		if in.Scope, in.Text = client.Scope(scope), args[0]; in.Scope == client.ScopeTask && in.Task == "" {
			in.Task = s.OwnTask()
		}
		if err := s.Texts(&in.Text); err != nil {
			return err
		}
		c, err := s.Dial(ctx)
		if err != nil {
			return err
		}
		m, err := c.Remember(ctx, in)
		return emitMemory(s, m, err)
	})
	cmd.Long = `Add an item (text, @FILE or -). It is private to you unless --scope is given.`
	f := cmd.Flags()
	f.StringVar(&in.Title, "title", "", "short title")
	shell.Choice(f, &scope, "scope", "", "%s; task is all participants of --task (default private)", client.Scopes())
	shell.TaskFlag(f, &in.Task, "task", "task that it belongs to (default with --scope task: TRAPEZE_TASK)")
	f.StringVar(&in.Conversation, "conversation", "", "conversation that it comes from")
	f.StringSliceVar(&in.Tags, "tag", nil, "tag (repeatable)")
	f.StringVar(&in.Subject, "subject", "", "whom or what it is about, such as patient/4711; trapeze erase subject/NAME erases all that has it")
	f.Float64Var(&in.Importance, "importance", 0, "importance from 0 (trivial) to 1 (vital)")
	f.BoolVar(&in.Pinned, "pin", false, "include it in every envelope, before other items")
	f.StringVar(&in.Source.Agent, "source", "", "agent that it comes from (default: you)")
	return shell.Example(cmd, "trapeze memory add 'the tests need a database' --scope workspace --tag tests")
}

func memoryGet(s *shell.Shell) *cobra.Command {
	var o client.MemoryReference
	cmd := s.Call("get ID", "Show an item; the read is recorded", cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		if o.Task == "" {
			o.Task = s.OwnTask()
		}
		m, err := c.Memory(ctx, args[0], o)
		return emitMemory(s, m, err)
	})
	cmd.Long = `Show an item, or one of its versions. If the envelope of a task that you own refers to a version of an item, you can read that
version even if the item is not visible to you.`
	f := cmd.Flags()
	f.IntVar(&o.Version, "version", 0, "version number (default: the newest)")
	f.StringVar(&o.Digest, "digest", "", "digest of the version, from an envelope: the status tells whether it is still current")
	shell.TaskFlag(f, &o.Task, "task", "task whose envelope refers to it (TRAPEZE_TASK)")
	return shell.Example(cmd, "trapeze memory get $ITEM --version 1")
}

func memoryVersions(s *shell.Shell) *cobra.Command {
	var after, limit int
	cmd := s.Call("versions ID", "Show all versions of an item", cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		list, err := c.MemoryVersions(ctx, args[0], after, limit)
		return s.Answer(list, err, func(p *shell.Page) {
			for i, v := range list.Versions {
				if i > 0 {
					p.Line("")
				}
				p.Fields([]shell.Field{{"version", fmt.Sprint(v.Version)}, {"title", v.Title}, {"by", v.By}, {"at", shell.Clock(v.At)}})
				p.Quote(v.Text)
			}
			if n := len(list.Versions); n > 0 && list.Versions[n-1].Version < list.Count {
				p.More(fmt.Sprint(list.Versions[n-1].Version))
			}
		})
	})
	cmd.Flags().IntVar(&limit, "limit", 0, "maximum number of versions, up to 500 (default 50)")
	cmd.Flags().IntVar(&after, "after", 0, "continue after this version")
	return shell.Example(cmd, "trapeze memory versions $ITEM")
}

func memoryRevise(s *shell.Shell) *cobra.Command {
	var in client.ReviseInput
	cmd := s.Command("revise ID TEXT", "Add a new version of an item (text, @FILE or -)", cobra.ExactArgs(2),
		func(ctx context.Context, args []string) error {
			in.Text = args[1]
			if err := s.Texts(&in.Text); err != nil {
				return err
			}
			c, err := s.Dial(ctx)
			if err != nil {
				return err
			}
			m, err := c.Revise(ctx, args[0], in)
			return emitMemory(s, m, err)
		})
	cmd.Flags().StringVar(&in.Title, "title", "", "new title (default: unchanged)")
	cmd.Flags().IntVar(&in.Expect, "expect", 0, "newest version that you know of; refused if there is a newer one")
	return shell.Example(cmd, "trapeze memory revise $ITEM 'the tests need two databases' --expect 1")
}

// memoryVerb makes a command whose only argument is the item.
func memoryVerb(s *shell.Shell, verb, short string, do func(*client.Client, context.Context, string) (client.MemoryItem, error)) *cobra.Command {
	cmd := s.Call(verb+" ID", short, cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		m, err := do(c, ctx, args[0])
		return emitMemory(s, m, err)
	})
	return shell.Example(cmd, "trapeze memory "+shellword.Quote(verb)+" $ITEM")
}

func memoryPin(s *shell.Shell) *cobra.Command {
	cmd := memoryVerb(s, "pin", "Include an item in every envelope, before other items", (*client.Client).Pin)
	cmd.Long = `Include an item in every envelope that may hold it, before other items. If an agent pins an item for the whole workspace, that is a
proposal, which counts once an operator pins the item, too, and until an agent revises it: trapeze memory list --proposed.
An agent holds at most 32 pins.`
	return cmd
}

func memoryForget(s *shell.Shell) *cobra.Command {
	cmd := memoryVerb(s, "forget", "Make an item's content unreadable, for good", (*client.Client).Forget)
	cmd.Long = `Make an item's content unreadable, for good: no reference, search, envelope, trail or export gives it, to nobody, not even to
those who had it before. In an erasable record (trapeze serve --erasable) it is erased, too, unless a legal hold is on it, except
in envelopes that have it, until their tasks are erased. What the record keeps, an operator can export (trapeze audit export --forgotten). What
others copied, such as into a fact or a file, stays.`
	return cmd
}

func memoryTag(s *shell.Shell) *cobra.Command {
	cmd := s.Call("tag ID [TAG…]", "Replace the tags of an item; without TAG, remove them", cobra.MinimumNArgs(1),
		func(ctx context.Context, c *client.Client, args []string) error {
			m, err := c.Tag(ctx, args[0], client.TagInput{Tags: args[1:]})
			return emitMemory(s, m, err)
		})
	return shell.Example(cmd, "trapeze memory tag $ITEM tests database")
}

func memoryWeigh(s *shell.Shell) *cobra.Command {
	cmd := s.Command("weigh ID IMPORTANCE", "Set the importance of an item, from 0 (trivial) to 1 (vital)", cobra.ExactArgs(2),
		func(ctx context.Context, args []string) error {
			importance, err := strconv.ParseFloat(args[1], 64)
			if err != nil {
				return shell.Usagef("%q is not a number from 0 to 1", args[1])
			}
			c, err := s.Dial(ctx)
			if err != nil {
				return err
			}
			m, err := c.Weigh(ctx, args[0], client.WeighInput{Importance: importance})
			return emitMemory(s, m, err)
		})
	return shell.Example(cmd, "trapeze memory weigh $ITEM 0.9")
}

func emitMemory(s *shell.Shell, m client.MemoryItem, err error) error {
	return s.Answer(m, err, func(p *shell.Page) {
		version := shell.Number(m.Version)
		if m.Versions > m.Version && m.Version > 0 {
			version += fmt.Sprintf(" of %d", m.Versions)
		}
		status := string(m.Status)
		if m.Status == client.MemoryCurrent {
			status = ""
		}
		forgotten := shell.Clock(m.Forgotten)
		if m.ForgottenBy != "" {
			forgotten += " by " + m.ForgottenBy
		}
		p.Fields([]shell.Field{
			{"memory", m.ID},
			{"title", m.Title},
			{"version", version},
			{"status", status},
			{"scope", string(m.Scope)},
			{"author", m.Author},
			{"source", m.Source.Agent},
			{"task", m.Task},
			{"conversation", m.Conversation},
			{"tags", shell.Names(m.Tags)},
			{"pinned", pinLine(m)},
			{"importance", weight(m.Importance)},
			{"created", shell.Clock(m.Created)},
			{"updated", shell.Clock(m.Updated)},
			{"forgotten", forgotten},
		})
		if m.Text != "" {
			p.Line("")
			p.Quote(m.Text)
		}
	})
}

// pinLine says who has pinned an item; of one that an agent proposes to pin, how an operator agrees.
func pinLine(m client.MemoryItem) string {
	switch {
	case m.Pinned:
		return "by " + m.PinnedBy
	case m.Proposed:
		return "proposed by " + m.PinnedBy + ", until an operator agrees: " + shellword.Command("trapeze memory pin", m.ID)
	}
	return ""
}

func weight(importance float64) string {
	if importance == 0 {
		return ""
	}
	return strconv.FormatFloat(importance, 'g', 3, 64)
}
