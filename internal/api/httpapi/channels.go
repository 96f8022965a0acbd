package httpapi

import (
	"context"
	"net/http"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/channel"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// ChannelPage is one page of a list of channels.
type ChannelPage struct {
	Channels []agents.Channel `json:"channels"`
	Next     string           `json:"next,omitempty" doc:"The parameter after of the next page; absent at the end."`
	Position uint64           `json:"position" doc:"Up to which the list is complete."`
}

// At implements [endpoint.Placed].
func (p ChannelPage) At() uint64 { return p.Position }

type channelsQuery struct {
	endpoint.Reading
	endpoint.Page
}

func (s *service) channels() {
	one := func(method, under, id, summary, about string) endpoint.Route {
		return endpoint.Route{Method: method, Path: "/v1/channels/{id}" + under, ID: id, Summary: summary, About: about, Tag: endpoint.TagChannels}
	}
	endpoint.Create(s.door, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/channels", ID: "create-channel", Summary: "Make a channel",
		About: "To publish, hand a task off with the kind broadcast and the channel's name.", Tag: endpoint.TagChannels, Status: http.StatusCreated,
	}, s.app.CreateChannel)
	endpoint.Read(s.door, endpoint.Route{Path: "/v1/channels", ID: "list-channels", Summary: "List the channels, by name", Tag: endpoint.TagChannels}, s.listChannels)
	endpoint.Read(s.door, one(http.MethodGet, "", "show-channel", "Show a channel", ""), func(ctx context.Context, c tasks.Caller, in *endpoint.ReadingID) (agents.Channel, error) {
		return s.app.Channel(ctx, c, in.ID)
	})
	endpoint.Change(s.door, one(http.MethodPut, "/description", "describe-channel", "Say anew what a channel is for", "As its owner or an operator."),
		func(ctx context.Context, c tasks.Caller, name string, in agents.DescribeInput) (agents.Channel, error) {
			in.Name = name
			return s.app.DescribeChannel(ctx, c, in)
		})
	endpoint.Change(s.door, one(http.MethodPost, "/subscribe", "subscribe", "Get what is published from now on", "Operators may name another agent."),
		func(ctx context.Context, c tasks.Caller, name string, in agents.SubscriptionInput) (agents.Channel, error) {
			in.Channel = name
			return s.app.Subscribe(ctx, c, in)
		})
	endpoint.Change(s.door, one(http.MethodPost, "/unsubscribe", "unsubscribe", "Get nothing more", "What was offered before stays offered."),
		func(ctx context.Context, c tasks.Caller, name string, in agents.SubscriptionInput) (agents.Channel, error) {
			in.Channel = name
			return s.app.Unsubscribe(ctx, c, in)
		})
	endpoint.Act(s.door, one(http.MethodDelete, "", "remove-channel", "End a channel", "As its owner or an operator. What was published stays what it is."), s.app.RemoveChannel)
}

func (s *service) listChannels(ctx context.Context, c tasks.Caller, in *channelsQuery) (ChannelPage, error) {
	if in.Page.After != "" {
		if err := channel.CheckName(in.Page.After); err != nil {
			return ChannelPage{}, err
		}
	}
	if in.Limit == 0 {
		in.Limit = endpoint.UsualPage
	}
	page := ChannelPage{Position: uint64(s.app.Views().Position())}
	list, err := s.app.Channels(ctx, c, agents.ChannelsInput{After: in.Page.After, Limit: in.Limit})
	if len(list) == in.Limit {
		page.Next = list[len(list)-1].Name
	}
	page.Channels = endpoint.NotNil(list)
	return page, err
}
