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
	Next     string           `json:"next,omitempty" doc:"Parameter after for the next page; absent on the last page."`
	Position uint64           `json:"position" doc:"The list includes every change up to this position of the record."`
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
		Method: http.MethodPost, Path: "/v1/channels", ID: "create-channel", Summary: "Create a channel",
		About: "To publish a task, hand it off with the kind broadcast and the name of the channel.", Tag: endpoint.TagChannels, Status: http.StatusCreated,
	}, s.app.CreateChannel)
	endpoint.Read(s.door, endpoint.Route{Path: "/v1/channels", ID: "list-channels", Summary: "List the channels, by name", Tag: endpoint.TagChannels}, s.listChannels)
	endpoint.Read(s.door, one(http.MethodGet, "", "show-channel", "Show a channel", ""), func(ctx context.Context, c tasks.Caller, in *endpoint.ReadingID) (agents.Channel, error) {
		return s.app.Channel(ctx, c, in.ID)
	})
	endpoint.Change(s.door, one(http.MethodPut, "/description", "describe-channel", "Replace the description of a channel", "For its owner and operators."),
		func(ctx context.Context, c tasks.Caller, name string, in agents.DescribeInput) (agents.Channel, error) {
			in.Name = name
			return s.app.DescribeChannel(ctx, c, in)
		})
	endpoint.Change(s.door, one(http.MethodPost, "/subscribe", "subscribe", "Subscribe to a channel", "You get what is published from now on. Operators may name another agent."),
		func(ctx context.Context, c tasks.Caller, name string, in agents.SubscriptionInput) (agents.Channel, error) {
			in.Channel = name
			return s.app.Subscribe(ctx, c, in)
		})
	endpoint.Change(s.door, one(http.MethodPost, "/unsubscribe", "unsubscribe", "Unsubscribe from a channel", "Offers made before stay open."),
		func(ctx context.Context, c tasks.Caller, name string, in agents.SubscriptionInput) (agents.Channel, error) {
			in.Channel = name
			return s.app.Unsubscribe(ctx, c, in)
		})
	endpoint.Act(s.door, one(http.MethodDelete, "", "remove-channel", "Remove a channel", "For its owner and operators. Tasks that were published do not change."), s.app.RemoveChannel)
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
