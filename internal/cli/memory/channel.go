package memory

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

func channels(s *shell.Shell) *cobra.Command {
	return shell.Group("channel", "Named lists of agents to publish to",
		channelCreate(s), channelList(s), channelShow(s), channelDescribe(s), channelSubscribe(s), channelUnsubscribe(s), channelPublish(s), channelRemove(s))
}

func channelCreate(s *shell.Shell) *cobra.Command {
	var in client.ChannelInput
	cmd := s.Command("create NAME", "Make a channel, which is yours and has no subscribers yet", cobra.ExactArgs(1),
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
	cmd.Flags().StringVar(&in.Description, "description", "", "what it is for (text, @FILE or -)")
	return example(cmd, "trapeze channel create news --description 'what has changed'")
}

func channelList(s *shell.Shell) *cobra.Command {
	var o client.ChannelOptions
	cmd := s.Call("list", "List the channels by name", shell.NoArgs, func(ctx context.Context, c *client.Client, _ []string) error {
		list, err := c.Channels(ctx, o)
		if err != nil {
			return err
		}
		return s.Emit(list, func(p *shell.Page) {
			var rows [][]string
			for _, ch := range list.Channels {
				rows = append(rows, []string{ch.Name, fmt.Sprint(len(ch.Subscribers)), ch.Owner, shell.Clip(ch.Description, 60)})
			}
			p.Table("There are no channels. Make one with: trapeze channel create NAME", []string{"NAME", "SUBSCRIBERS", "OWNER", "DESCRIPTION"}, rows)
			p.More(list.Next)
		})
	})
	shell.PageFlags(cmd.Flags(), &o.Limit, &o.After)
	return example(cmd, "trapeze channel list --limit 10")
}

func channelShow(s *shell.Shell) *cobra.Command {
	cmd := s.Call("show NAME", "Show a channel and who subscribes to it", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) error {
			ch, err := c.Channel(ctx, args[0])
			return emitChannel(s, ch, err)
		})
	return example(cmd, "trapeze channel show news")
}

func channelDescribe(s *shell.Shell) *cobra.Command {
	cmd := s.Command("describe NAME DESCRIPTION", "Say anew what a channel is for (text, @FILE or -), as its owner or an operator", cobra.ExactArgs(2),
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
	return example(cmd, "trapeze channel describe news 'what has changed, daily'")
}

func channelSubscribe(s *shell.Shell) *cobra.Command {
	return subscription(s, "subscribe", "Get what is published from now on", (*client.Client).Subscribe)
}

func channelUnsubscribe(s *shell.Shell) *cobra.Command {
	return subscription(s, "unsubscribe", "Get nothing more; what was offered before stays offered", (*client.Client).Unsubscribe)
}

// subscription is a command about one agent and a channel: the agent that one is, or as an operator any.
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
	cmd.Long = short + ". Without AGENT it is about the agent that you are (--agent NAME); operators may name any."
	return example(cmd, "trapeze channel "+verb+" news --agent coder")
}

func channelPublish(s *shell.Shell) *cobra.Command {
	var in client.CreateInput
	var send client.SendInput
	var content shell.ContentFlags
	cmd := s.Command("publish NAME INTENT", "Create a task and hand it to whoever subscribes to a channel now", cobra.ExactArgs(2),
		func(ctx context.Context, args []string) (err error) {
			if in.Intent, err = s.Text(args[1]); err != nil {
				return err
			}
			c, err := content.Dial(ctx, s, &in.Content)
			if err != nil {
				return err
			}
			send.Channel, in.Send = args[0], &send
			in.Start = send.FanOut // who gets the results
			r, err := c.CreateTask(ctx, in)
			return s.EmitReceipt(r, err)
		})
	cmd.Long = `Create a task (text, @FILE or -) and hand it to whoever subscribes to a channel now, but for yourself: the first to accept
wins. With --fan-out, which takes an agent, each gets a copy, and the task waits for what comes of them.

Everything else about a task or a handoff can be said with task create --channel and send --channel.`
	cmd.Flags().BoolVar(&send.FanOut, "fan-out", false, "every subscriber gets a copy; the results come back to you")
	shell.PackFlags(cmd.Flags(), &send.Pack)
	content.Add(cmd.Flags())
	return example(cmd, "trapeze channel publish news 'read the release notes' --agent planner --fan-out")
}

func channelRemove(s *shell.Shell) *cobra.Command {
	cmd := s.Call("remove NAME", "End a channel, as its owner or an operator; what was published stays what it is", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) error {
			ch, err := c.RemoveChannel(ctx, args[0])
			if err != nil {
				return err
			}
			return s.Emit(ch, func(p *shell.Page) { p.Line("The channel %s is removed.", shell.OneLine(ch.Name)) })
		})
	return example(cmd, "trapeze channel remove news")
}

func emitChannel(s *shell.Shell, ch client.Channel, err error) error {
	if err != nil {
		return err
	}
	return s.Emit(ch, func(p *shell.Page) {
		p.Fields([]shell.Field{
			{"channel", ch.Name},
			{"description", ch.Description},
			{"owner", ch.Owner},
			{"subscribers", shell.Names(ch.Subscribers)},
			{"created", shell.Clock(ch.Created)},
		})
	})
}
