package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/channel"
	"github.com/trapezehq/trapeze/internal/roster"
)

const tagChannels = "Channels"

// ChannelPage is one page of a list of channels.
type ChannelPage struct {
	Channels []roster.Channel `json:"channels"`
	Next     string           `json:"next,omitempty" doc:"The parameter after of the next page; absent at the end."`
	Position uint64           `json:"position" doc:"Up to which the list is complete."`
}

func (p ChannelPage) position() uint64 { return p.Position }

type channelsQuery struct {
	Reading
	Page
}

type channelBody struct {
	Keyed
	Body roster.ChannelInput
}

func (s *service) channels() {
	one := func(method, under, id, summary, about string) route {
		return route{method: method, path: "/v1/channels/{id}" + under, id: id, summary: summary, about: about, tag: tagChannels}
	}
	create := s.operation(route{
		method: http.MethodPost, path: "/v1/channels", id: "create-channel", summary: "Make a channel",
		about: "To publish, hand a task off with the kind broadcast and the channel's name.", tag: tagChannels, status: http.StatusCreated,
	})
	huma.Register(s.api, create, func(ctx context.Context, in *channelBody) (*answer[roster.Channel], error) {
		ch, err := s.app.CreateChannel(ctx, caller(ctx).WithKey(in.Key), in.Body)
		if err != nil {
			return nil, s.problem(ctx, err)
		}
		return answerOf(ch), nil
	})
	read(s, route{path: "/v1/channels", id: "list-channels", summary: "List the channels, by name", tag: tagChannels}, s.listChannels)
	read(s, one(http.MethodGet, "", "show-channel", "Show a channel", ""), func(ctx context.Context, c app.Caller, in *readingID) (roster.Channel, error) {
		return s.app.Channel(ctx, c, in.ID)
	})
	change(s, one(http.MethodPut, "/description", "describe-channel", "Say anew what a channel is for", "As its owner or an operator."),
		func(ctx context.Context, c app.Caller, name string, in roster.DescribeInput) (roster.Channel, error) {
			in.Name = name
			return s.app.DescribeChannel(ctx, c, in)
		})
	change(s, one(http.MethodPost, "/subscribe", "subscribe", "Get what is published from now on", "Operators may name another agent."),
		func(ctx context.Context, c app.Caller, name string, in roster.SubscriptionInput) (roster.Channel, error) {
			in.Channel = name
			return s.app.Subscribe(ctx, c, in)
		})
	change(s, one(http.MethodPost, "/unsubscribe", "unsubscribe", "Get nothing more", "What was offered before stays offered."),
		func(ctx context.Context, c app.Caller, name string, in roster.SubscriptionInput) (roster.Channel, error) {
			in.Channel = name
			return s.app.Unsubscribe(ctx, c, in)
		})
	act(s, one(http.MethodDelete, "", "remove-channel", "End a channel", "As its owner or an operator. What was published stays what it is."), s.app.RemoveChannel)
}

func (s *service) listChannels(ctx context.Context, c app.Caller, in *channelsQuery) (ChannelPage, error) {
	if in.Page.After != "" {
		if err := channel.CheckName(in.Page.After); err != nil {
			return ChannelPage{}, err
		}
	}
	if in.Limit == 0 {
		in.Limit = usualPage
	}
	page := ChannelPage{Position: uint64(s.app.Views().Position())}
	list, err := s.app.Channels(ctx, c, roster.ChannelsInput{After: in.Page.After, Limit: in.Limit})
	if len(list) == in.Limit {
		page.Next = list[len(list)-1].Name
	}
	page.Channels = notNil(list)
	return page, err
}
