package agent

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// Channel is the command group trapeze channel.
func Channel(s *shell.Shell) *cobra.Command {
	return shell.Group("channel", "Create channels, subscribe to them, and publish tasks to their subscribers",
		channelCreate(s), channelList(s), channelShow(s), channelDescribe(s), channelSubscribe(s), channelUnsubscribe(s), channelPublish(s), channelRemove(s))
}

func channelCreate(s *shell.Shell) *cobra.Command {
	var in client.ChannelInput
	cmd := s.Command("create NAME", "Create a channel", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error {
			in.Name = args[0]
			if err := s.Texts(&in.Description); err != nil {
				return err
			}
			c, err := s.Dial(ctx)
			if err != nil {
				return err
			}
			ch, err := c.CreateChannel(ctx, in)
			return emitChannel(s, ch, err)
		})
	cmd.Flags().StringVar(&in.Description, "description", "", "purpose of the channel (text, @FILE or -)")
	return shell.Example(cmd, "trapeze channel create news --description 'what has changed'")
}

func channelList(s *shell.Shell) *cobra.Command {
	var o client.ChannelOptions
	cmd := s.Call("list", "List the channels by name", shell.NoArgs, func(ctx context.Context, c *client.Client, _ []string) error {
		list, err := c.Channels(ctx, o)
		return s.Answer(list, err, func(p *shell.Page) {
			shell.List(p, "There are no channels. Create one with: trapeze channel create NAME", []string{"NAME", "SUBSCRIBERS", "OWNER", "DESCRIPTION"}, list.Channels, func(ch client.Channel) []string {
				return []string{ch.Name, fmt.Sprint(len(ch.Subscribers)), ch.Owner, shell.Clip(ch.Description, 60)}
			})
			p.More(list.Next)
		})
	})
	shell.PageFlags(cmd.Flags(), &o.Limit, &o.After)
	return shell.Example(cmd, "trapeze channel list --limit 10")
}

func channelShow(s *shell.Shell) *cobra.Command {
	cmd := s.Call("show NAME", "Show a channel and its subscribers", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) error {
			ch, err := c.Channel(ctx, args[0])
			return emitChannel(s, ch, err)
		})
	return shell.Example(cmd, "trapeze channel show news")
}

func channelDescribe(s *shell.Shell) *cobra.Command {
	cmd := s.Command("describe NAME DESCRIPTION", "Change the description of a channel (text, @FILE or -), as its owner or an operator", cobra.ExactArgs(2),
		func(ctx context.Context, args []string) error {
			if err := s.Texts(&args[1]); err != nil {
				return err
			}
			c, err := s.Dial(ctx)
			if err != nil {
				return err
			}
			ch, err := c.DescribeChannel(ctx, args[0], client.DescribeInput{Description: args[1]})
			return emitChannel(s, ch, err)
		})
	return shell.Example(cmd, "trapeze channel describe news 'what has changed, daily'")
}

func channelSubscribe(s *shell.Shell) *cobra.Command {
	return subscription(s, "subscribe", "Subscribe to a channel", (*client.Client).Subscribe)
}

func channelUnsubscribe(s *shell.Shell) *cobra.Command {
	return subscription(s, "unsubscribe", "Unsubscribe from a channel; earlier offers stay", (*client.Client).Unsubscribe)
}

// subscription makes a command that changes the subscription of an agent: the caller, or any agent for an operator.
func subscription(s *shell.Shell, verb, short string,

	do func(*client.Client, context.Context, string, client.SubscriptionInput) (client.Channel, error),
) *cobra.Command {
	cmd := s.Call(verb+" NAME [AGENT]", short, cobra.RangeArgs(1, 2), func(ctx context.Context, c *client.Client, args []string) error {
		var in client.SubscriptionInput
		if len(args) == 2 {
			in.Agent = args[1]
		}
		ch, err := do(c, ctx, args[0], in)
		return emitChannel(s, ch, err)
	})
	cmd.Long = short + ". AGENT defaults to the agent that you act as (--agent NAME); operators may name any agent."
	return shell.Example(cmd, "trapeze channel "+shellword.Quote(verb)+" news --agent coder")
}

func channelPublish(s *shell.Shell) *cobra.Command {
	var in client.CreateInput
	var send client.SendInput
	var content shell.ContentFlags
	cmd := s.Command("publish NAME INTENT", "Create a task, and offer it to the current subscribers of a channel", cobra.ExactArgs(2),
		func(ctx context.Context, args []string) (err error) {
			if in.Intent, err = s.Text(args[1]); err != nil {
				return err
			}
			c, err := s.Dial(ctx)
			if err != nil {
				return err
			}
			if in.Content, err = content.Read(ctx, s, c); err != nil {
				return err
			}
			send.Channel, in.Send = args[0], &send
			in.Start = send.FanOut // its owner gets the results
			r, err := c.CreateTask(ctx, in)
			s.Remember(r.Task)
			return s.EmitReceipt(r, err)
		})
	cmd.Long = `Create a task (text, @FILE or -), and offer it to the current subscribers of a channel except you: the first to accept gets it.
With --fan-out, which needs --agent, every subscriber gets a copy, and your task waits for their results.

For all other options of tasks and handoffs use trapeze task create --channel and trapeze send --channel.`
	cmd.Flags().BoolVar(&send.FanOut, "fan-out", false, "give every subscriber a copy, and wait for the results")
	shell.PackFlags(cmd.Flags(), &send.Pack)
	content.Add(cmd.Flags())
	return shell.Example(cmd, "trapeze channel publish news 'read the release notes' --agent planner --fan-out")
}

func channelRemove(s *shell.Shell) *cobra.Command {
	cmd := s.Call("remove NAME", "Remove a channel, as its owner or an operator; published tasks are not affected", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) error {
			ch, err := c.RemoveChannel(ctx, args[0])
			return s.Answer(ch, err, func(p *shell.Page) { p.Line("The channel %s is removed.", shell.OneLine(ch.Name)) })
		})
	return shell.Example(cmd, "trapeze channel remove news")
}

func emitChannel(s *shell.Shell, ch client.Channel, err error) error {
	return s.Answer(ch, err, func(p *shell.Page) {
		p.Fields([]shell.Field{
			{"channel", ch.Name},
			{"description", ch.Description},
			{"owner", ch.Owner},
			{"subscribers", shell.Names(ch.Subscribers)},
			{"created", shell.Clock(ch.Created)},
		})
	})
}
