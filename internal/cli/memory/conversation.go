package memory

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Conversation is the command group trapeze conversation.
func Conversation(s *shell.Shell) *cobra.Command {
	return shell.Group("conversation", "Record conversations across agents, and continue them",
		conversationLog(s), conversationList(s), conversationShow(s), conversationContinue(s))
}

func conversationLog(s *shell.Shell) *cobra.Command {
	var in client.TurnInput
	var role string
	cmd := s.Command("log CONVERSATION TEXT", "Add a turn to a conversation; the first turn creates it", cobra.ExactArgs(2),
		func(ctx context.Context, args []string) error {
			in.Role, in.Text = client.SpeakerRole(role), args[1]
			if err := s.Texts(&in.Text); err != nil {
				return err
			}
			if in.Task == "" && in.Handoff == "" {
				in.Task = s.OwnTask()
			}
			c, err := s.Dial(ctx)
			if err != nil {
				return err
			}
			said, err := c.AppendTurn(ctx, args[0], in)
			return s.Answer(said, err, func(p *shell.Page) { p.Line("Turn %d of %s.", said.Turn, shell.OneLine(said.Conversation)) })
		})
	cmd.Long = `Add a turn (text, @FILE or -) to a conversation. A name means your own conversation, or that of the task; the answer has its id, NAME~AGENT,
by which others name it. The owner of a task that it belongs to can read and continue it: trapeze task create … --conversation NAME sends it
along in condensed form.`
	f := cmd.Flags()
	shell.Choice(f, &role, "role", "assistant", "role of the speaker: %s", client.SpeakerRoles())
	f.StringVar(&in.Agent, "speaker", "", "agent in whose session it was said, for operators (default: you)")
	shell.TaskFlag(f, &in.Task, "task", "task that it is about (TRAPEZE_TASK)")
	f.StringVar(&in.Handoff, "handoff", "", "handoff that it is about")
	shell.TakesIDs(f, "handoff", "HANDOFF")
	f.StringVar(&in.Subject, "subject", "", "whom or what the conversation is about, such as patient/4711; trapeze erase subject/NAME erases all that has it")
	return shell.Example(cmd, "trapeze conversation log login-trouble 'I cannot log in' --role user --agent triage")
}

func conversationList(s *shell.Shell) *cobra.Command {
	var o client.ConversationFilter
	cmd := s.Call("list", "List the conversations that you take part in, the newest first", shell.NoArgs,
		func(ctx context.Context, c *client.Client, _ []string) error {
			list, err := c.Conversations(ctx, o)
			return s.Answer(list, err, func(p *shell.Page) {
				shell.List(p, "No conversations match.", []string{"CONVERSATION", "TURNS", "SPEAKERS", "UPDATED", "TASKS"}, list.Conversations, func(v client.Conversation) []string {
					return []string{v.ID, fmt.Sprint(v.Count), speakers(v), shell.Clock(v.Updated), shell.Names(v.Tasks)}
				})
				for _, v := range list.Conversations { // of a search
					for _, t := range v.Turns {
						p.Line("\n%s", p.Dim(fmt.Sprintf("%s, turn %d  %s  %s (%s)", shell.OneLine(v.ID), t.N, shell.Clock(t.At), shell.OneLine(t.Agent), shell.OneLine(string(t.Role)))))
						p.Quote(t.Text)
					}
				}
				p.More(list.Next)
			})
		})
	cmd.Flags().StringVar(&o.Agent, "with", "", "list only conversations that this agent spoke in")
	shell.TaskFlag(cmd.Flags(), &o.Task, "task", "list only conversations of this task")
	cmd.Flags().StringVar(&o.Text, "text", "", "list only conversations with these words, and the turns that have them")
	shell.PageFlags(cmd.Flags(), &o.Limit, &o.After)
	return shell.Example(cmd, "trapeze conversation list --with triage")
}

func conversationShow(s *shell.Shell) *cobra.Command {
	var o client.ConversationOptions
	cmd := s.Call("show CONVERSATION", "Print the last turns of a conversation; the read is recorded", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) error {
			v, err := c.Conversation(ctx, args[0], o)
			return s.Answer(v, err, func(p *shell.Page) {
				p.Fields([]shell.Field{
					{"conversation", v.ID},
					{"turns", fmt.Sprint(v.Count)},
					{"speakers", speakers(v)},
					{"tasks", shell.Names(v.Tasks)},
					{"handoffs", shell.Names(v.Handoffs)},
					{"created", shell.Clock(v.Created)},
					{"updated", shell.Clock(v.Updated)},
				})
				for _, t := range v.Turns {
					p.Line("\n%s", p.Dim(fmt.Sprintf("%d  %s  %s (%s)", t.N, shell.Clock(t.At), shell.OneLine(t.Agent), shell.OneLine(string(t.Role)))))
					p.Quote(t.Text)
				}
				if len(v.Turns) > 0 && v.Turns[0].N > 1 {
					p.Line("\nThere are earlier turns: --before %d", v.Turns[0].N)
				}
			})
		})
	cmd.Flags().IntVar(&o.Limit, "limit", 0, "maximum number of turns, up to 500 (default 50)")
	cmd.Flags().IntVar(&o.Before, "before", 0, "print only turns before this one")
	return shell.Example(cmd, "trapeze conversation show login-trouble --limit 10")
}

func speakers(v client.Conversation) string {
	list := make([]string, len(v.Speakers))
	for i, k := range v.Speakers {
		list[i] = fmt.Sprintf("%s (%d)", k.Agent, k.Turns)
	}
	return shell.Names(list)
}

func conversationContinue(s *shell.Shell) *cobra.Command {
	var budget int
	cmd := s.Call("continue CONVERSATION", "Print a summary for the next agent to continue a conversation with; the read is recorded", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) error {
			v, err := c.Continuity(ctx, args[0], budget)
			return s.Answer(v, err, func(p *shell.Page) { p.Quote(v.Text) })
		})
	cmd.Flags().IntVar(&budget, "bytes", 0, "maximum size of the summary, in bytes (default 4000)")
	return shell.Example(cmd, "trapeze conversation continue login-trouble --bytes 2000")
}
