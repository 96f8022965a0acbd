package extratool

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

type channelInput struct {
	Action      string `json:"action,omitempty" enum:"list,create,describe,subscribe,leave,remove" jsonschema:"default list"`
	Name        string `json:"name,omitempty" jsonschema:"of the channel; with list: this one only"`
	Description string `json:"description,omitempty" jsonschema:"with create and describe: what it is for"`
	Agent       string `json:"agent,omitempty" jsonschema:"with subscribe and leave, for operators: another agent"`
	Key         string `json:"key,omitempty"`
}

type channels struct {
	Channels []channel `json:"channels"`
	More     bool      `json:"more,omitempty"`
}

type channel struct {
	Name        string   `json:"name"`
	Owner       string   `json:"owner"`
	Description string   `json:"description,omitempty"`
	Subscribers []string `json:"subscribers,omitempty"`
}

const mostChannels = 50

var channelTool = tool.Define[channelInput, channels]("channel", "List, create and leave channels", tool.Destroys,
	"List the channels, or create, describe, subscribe to, leave or remove one. {send} with channel reaches its subscribers.",
	func(ctx context.Context, c *tool.Call, in channelInput) (tool.Answer, error) {
		if err := in.check(c); err != nil {
			return tool.Answer{}, err
		}
		ctx = tool.Keyed(ctx, in.Key)
		var ch client.Channel
		var err error
		did := ""
		switch in.Action {
		case "create":
			ch, err = c.CreateChannel(ctx, client.ChannelInput{Name: in.Name, Description: in.Description})
			did = "Created. "
		case "describe":
			ch, err = c.DescribeChannel(ctx, in.Name, client.DescribeInput{Description: in.Description})
			did = "Described. "
		case "subscribe":
			ch, err = c.Subscribe(ctx, in.Name, client.SubscriptionInput{Agent: in.Agent})
			did = cmp.Or(in.Agent, "You") + " will get what is published to it. "
		case "leave":
			ch, err = c.Unsubscribe(ctx, in.Name, client.SubscriptionInput{Agent: in.Agent})
			did = cmp.Or(in.Agent, "You") + " will get nothing more of it. "
		case "remove":
			ch, err = c.RemoveChannel(ctx, in.Name)
			did = "Removed. "
		default:
			if in.Name == "" {
				return listChannels(ctx, c)
			}
			ch, err = c.Channel(ctx, in.Name)
		}
		return tool.Answer{Text: did + channelText(ch), Data: channels{Channels: []channel{channelOf(ch)}}}, err
	})

// check refuses arguments that would have no effect.
func (in channelInput) check(c *tool.Call) error {
	action := cmp.Or(in.Action, "list")
	switch {
	case action != "list" && in.Name == "":
		return c.Invalid("{channel} with action=%s needs name: {channel} alone lists the channels", action)
	case in.Description != "" && action != "create" && action != "describe":
		return argument.Invalid("description is for create and describe: omit it")
	case in.Agent != "" && action != "subscribe" && action != "leave":
		return argument.Invalid("agent is for subscribe and leave: omit it")
	}
	return nil
}

func listChannels(ctx context.Context, c *tool.Call) (tool.Answer, error) {
	page, err := c.Channels(ctx, client.ChannelOptions{Limit: mostChannels})
	if err != nil {
		return tool.Answer{}, err
	}
	out, text := channels{Channels: []channel{}, More: page.Next != ""}, strings.Builder{}
	for _, ch := range page.Channels {
		out.Channels = append(out.Channels, channelOf(ch))
		text.WriteString("- " + channelText(ch) + "\n")
	}
	if len(page.Channels) == 0 {
		text.WriteString(c.Say("No channels. {channel} with action=create and a name creates one.\n"))
	}
	if out.More {
		text.WriteString("There are more.\n")
	}
	return tool.Answer{Text: text.String(), Data: out}, nil
}

func channelOf(ch client.Channel) channel {
	return channel{ch.Name, ch.Owner, ch.Description, ch.Subscribers}
}

func channelText(ch client.Channel) string {
	text := fmt.Sprintf("%s, of %s; subscribers: %s", ch.Name, ch.Owner, cmp.Or(strings.Join(ch.Subscribers, ", "), "none"))
	if ch.Description != "" {
		text += " - " + show.Line(ch.Description)
	}
	return text
}
