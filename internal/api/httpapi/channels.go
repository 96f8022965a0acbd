package httpapi

import (
	"context"
	"net/http"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/channels"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/channel"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// ChannelPage is one page of a list of channels.
type ChannelPage struct {
	Channels []channels.Channel `json:"channels"`
	Next     string             `json:"next,omitempty" doc:"Parameter after for the next page; absent on the last page."`
	endpoint.Listed
}

type channelsQuery struct {
	endpoint.Reading
	endpoint.Page
}

func (s *service) channels() {
	one := func(method, under, id, summary, about string) endpoint.Route {
		return endpoint.Route{Method: method, Path: "/v1/channels/{id}" + under, ID: id, Summary: summary, About: about, Tag: endpoint.TagChannels}
	}
	endpoint.Create(s.router, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/channels", ID: "create-channel", Summary: "Create a channel",
		About: "To publish a task, hand it off with the kind broadcast and the name of the channel.", Tag: endpoint.TagChannels, Status: http.StatusCreated,
	}, s.app.Channels.Create)
	endpoint.Read(s.router, endpoint.Route{Path: "/v1/channels", ID: "list-channels", Summary: "List the channels, by name", Tag: endpoint.TagChannels}, s.listChannels)
	endpoint.Read(s.router, one(http.MethodGet, "", "show-channel", "Show a channel", ""), func(ctx context.Context, c caller.Caller, in *endpoint.ReadingID) (channels.Channel, error) {
		return s.app.Channels.Show(ctx, c, in.ID)
	})
	endpoint.Change(s.router, one(http.MethodPut, "/description", "describe-channel", "Replace the description of a channel", "For its owner and operators."),
		endpoint.Under(func(in *channels.DescribeInput) *string { return &in.Name }, s.app.Channels.Describe))
	endpoint.Change(s.router, one(http.MethodPost, "/subscribe", "subscribe", "Subscribe to a channel", "You get what is published from now on. Operators may name another agent."),
		endpoint.Under(func(in *channels.SubscriptionInput) *string { return &in.Channel }, s.app.Channels.Subscribe))
	endpoint.Change(s.router, one(http.MethodPost, "/unsubscribe", "unsubscribe", "Unsubscribe from a channel", "Offers made before stay open."),
		endpoint.Under(func(in *channels.SubscriptionInput) *string { return &in.Channel }, s.app.Channels.Unsubscribe))
	endpoint.Act(s.router, one(http.MethodDelete, "", "remove-channel", "Remove a channel", "For its owner and operators. Tasks that were published do not change."), s.app.Channels.Remove)
}

func (s *service) listChannels(ctx context.Context, c caller.Caller, in *channelsQuery) (ChannelPage, error) {
	if in.Page.After != "" {
		if err := refusal.In("after", channel.CheckName(in.Page.After)); err != nil {
			return ChannelPage{}, err
		}
	}
	if in.Limit == 0 {
		in.Limit = endpoint.UsualPage
	}
	page := ChannelPage{Listed: endpoint.Listed{Position: s.app.Positions.Viewed()}}
	list, err := s.app.Channels.List(ctx, c, channels.ChannelsInput{After: in.Page.After, Limit: in.Limit})
	if len(list) == in.Limit {
		page.Next = list[len(list)-1].Name
	}
	page.Channels = endpoint.NotNil(list)
	return page, err
}
