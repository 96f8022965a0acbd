package know

import (
	"context"
	"net/http"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/channel"
	"github.com/trapezehq/trapeze/internal/roster"
	"github.com/trapezehq/trapeze/internal/surface/httpapi/door"
)

// ChannelPage is one page of a list of channels.
type ChannelPage struct {
	Channels []roster.Channel `json:"channels"`
	Next     string           `json:"next,omitempty" doc:"The parameter after of the next page; absent at the end."`
	Position uint64           `json:"position" doc:"Up to which the list is complete."`
}

// At implements [door.Placed].
func (p ChannelPage) At() uint64 { return p.Position }

type channelsQuery struct {
	door.Reading
	door.Page
}

func (s *routes) channels() {
	one := func(method, under, id, summary, about string) door.Route {
		return door.Route{Method: method, Path: "/v1/channels/{id}" + under, ID: id, Summary: summary, About: about, Tag: door.TagChannels}
	}
	door.Create(s.door, door.Route{
		Method: http.MethodPost, Path: "/v1/channels", ID: "create-channel", Summary: "Make a channel",
		About: "To publish, hand a task off with the kind broadcast and the channel's name.", Tag: door.TagChannels, Status: http.StatusCreated,
	}, s.app.CreateChannel)
	door.Read(s.door, door.Route{Path: "/v1/channels", ID: "list-channels", Summary: "List the channels, by name", Tag: door.TagChannels}, s.listChannels)
	door.Read(s.door, one(http.MethodGet, "", "show-channel", "Show a channel", ""), func(ctx context.Context, c app.Caller, in *door.ReadingID) (roster.Channel, error) {
		return s.app.Channel(ctx, c, in.ID)
	})
	door.Change(s.door, one(http.MethodPut, "/description", "describe-channel", "Say anew what a channel is for", "As its owner or an operator."),
		func(ctx context.Context, c app.Caller, name string, in roster.DescribeInput) (roster.Channel, error) {
			in.Name = name
			return s.app.DescribeChannel(ctx, c, in)
		})
	door.Change(s.door, one(http.MethodPost, "/subscribe", "subscribe", "Get what is published from now on", "Operators may name another agent."),
		func(ctx context.Context, c app.Caller, name string, in roster.SubscriptionInput) (roster.Channel, error) {
			in.Channel = name
			return s.app.Subscribe(ctx, c, in)
		})
	door.Change(s.door, one(http.MethodPost, "/unsubscribe", "unsubscribe", "Get nothing more", "What was offered before stays offered."),
		func(ctx context.Context, c app.Caller, name string, in roster.SubscriptionInput) (roster.Channel, error) {
			in.Channel = name
			return s.app.Unsubscribe(ctx, c, in)
		})
	door.Act(s.door, one(http.MethodDelete, "", "remove-channel", "End a channel", "As its owner or an operator. What was published stays what it is."), s.app.RemoveChannel)
}

func (s *routes) listChannels(ctx context.Context, c app.Caller, in *channelsQuery) (ChannelPage, error) {
	if in.Page.After != "" {
		if err := channel.CheckName(in.Page.After); err != nil {
			return ChannelPage{}, err
		}
	}
	if in.Limit == 0 {
		in.Limit = door.UsualPage
	}
	page := ChannelPage{Position: uint64(s.app.Views().Position())}
	list, err := s.app.Channels(ctx, c, roster.ChannelsInput{After: in.Page.After, Limit: in.Limit})
	if len(list) == in.Limit {
		page.Next = list[len(list)-1].Name
	}
	page.Channels = door.NotNil(list)
	return page, err
}
