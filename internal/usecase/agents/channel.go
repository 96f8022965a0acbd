package agents

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/channel"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// MaxChannels is the most channels that a workspace may have. It is counted in the views, so several that are created at
// once may exceed it by a few.
const MaxChannels = 1000

// Channel is a named list of agents to publish to.
type Channel struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Owner       string          `json:"owner"` // the principal that created it
	Subscribers []string        `json:"subscribers"`
	Created     time.Time       `json:"created"`
	Position    ledger.Position `json:"position,omitempty"`
}

// At is up to where on record the answer is true.
func (c Channel) At() uint64 { return uint64(c.Position) }

// ChannelInput makes a channel.
type ChannelInput struct {
	Name        string `json:"name" doc:"As agents are named: a-z, 0-9, '-', '_' and '.'." minLength:"1"`
	Description string `json:"description,omitempty" doc:"What it is for."`
}

// DescribeInput says anew what a channel is for.
type DescribeInput struct {
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty" doc:"Left out: none."`
}

// SubscriptionInput says who subscribes to a channel, or no longer does.
type SubscriptionInput struct {
	Channel string `json:"channel,omitempty"`
	Agent   string `json:"agent,omitempty" doc:"Left out: the calling agent. Operators may name any."`
}

// CreateChannel makes a channel, without subscribers. The caller is its owner.
func (r *Roster) CreateChannel(ctx context.Context, c caller.Caller, in ChannelInput) (Channel, error) {
	if err := r.roomForChannel(ctx, c, in.Name); err != nil {
		return Channel{}, r.access.Refused(ctx, c.Workspace, c.Actor(), "create-channel", in.Name, err)
	}
	return r.channelDo(ctx, c, "create-channel", in.Name, in,
		channel.Create{By: c.Principal, Name: in.Name, Description: in.Description})
}

// roomForChannel refuses (limit) one channel more than a workspace may have. One that is there already is no more.
func (r *Roster) roomForChannel(ctx context.Context, c caller.Caller, name string) error {
	if err := c.May(identity.ActOwn, "create a channel"); err != nil {
		return err
	}
	n, err := r.views.ChannelCount(ctx, c.Workspace)
	if err != nil {
		return stream.Unavailable(err)
	}
	if n < MaxChannels {
		return nil
	}
	if err := channel.CheckName(name); err != nil {
		return err
	}
	f, err := r.channels.Load(ctx, channelStream(c.Workspace, name), true)
	if err != nil || f.State.Exists() {
		return err
	}
	return refusal.New(refusal.Limit, "use one that there is, or have one removed that nobody needs",
		"workspace %s has %d channels; at most %d are allowed", c.Workspace, n, MaxChannels)
}

// DescribeChannel says anew what a channel is for, as its owner or an operator.
func (r *Roster) DescribeChannel(ctx context.Context, c caller.Caller, in DescribeInput) (Channel, error) {
	return r.channelDo(ctx, c, "describe-channel", in.Name, in,
		channel.Describe{By: c.Principal, Name: in.Name, Description: in.Description})
}

// Subscribe adds an agent to those who get what is published from now on: the caller, or, for operators, any.
func (r *Roster) Subscribe(ctx context.Context, c caller.Caller, in SubscriptionInput) (Channel, error) {
	if in.Agent != "" && in.Agent != c.Agent() {
		known, err := r.Known(ctx, c.Workspace, in.Agent, true)
		if err == nil && !known.Exists() {
			err = refusal.New(refusal.NotFound, "list the agents to see who there is", "there is no agent %.80q", in.Agent)
		}
		if err != nil {
			return Channel{}, r.access.Refused(ctx, c.Workspace, c.Actor(), "subscribe", in.Channel, err)
		}
	}
	return r.channelDo(ctx, c, "subscribe", in.Channel, in, channel.Subscribe{By: c.Principal, Name: in.Channel, Agent: in.Agent})
}

// Unsubscribe takes an agent away: the caller, or, for operators, any. What was offered to it before stays offered.
func (r *Roster) Unsubscribe(ctx context.Context, c caller.Caller, in SubscriptionInput) (Channel, error) {
	return r.channelDo(ctx, c, "unsubscribe", in.Channel, in, channel.Unsubscribe{By: c.Principal, Name: in.Channel, Agent: in.Agent})
}

// RemoveChannel ends a channel, as its owner or an operator. What was published stays what it is.
func (r *Roster) RemoveChannel(ctx context.Context, c caller.Caller, name string) (Channel, error) {
	return r.channelDo(ctx, c, "remove-channel", name, nil, channel.Remove{By: c.Principal, Name: name})
}

func (r *Roster) channelDo(ctx context.Context, c caller.Caller, verb, name string, in any, cmd channel.Command) (Channel, error) {
	out, err := r.changeChannel(ctx, c, verb, name, in, cmd)
	if err != nil {
		return Channel{}, r.access.Refused(ctx, c.Workspace, c.Actor(), verb, name, err)
	}
	return channelOf(*out.State, out.At), nil
}

func (r *Roster) changeChannel(ctx context.Context, c caller.Caller, verb, name string, in any, cmd channel.Command) (out stream.Outcome[channel.State], err error) {
	if err := c.May(identity.ActOwn, "change channels"); err != nil {
		return out, err
	}
	if err := channel.CheckName(name); err != nil {
		return out, err
	}
	request, err := c.Digest(verb, in)
	if err != nil {
		return out, err
	}
	return r.channels.Do(ctx, c.Write(request), channelStream(c.Workspace, name), func(s channel.State, now time.Time) ([]channel.Event, error) {
		return channel.Decide(s, cmd, now)
	})
}

// ChannelsInput says which page of the channels is wanted.
type ChannelsInput struct {
	After string // name of the last channel of the page before
	Limit int    // 0: 50
}

// Channels lists the channels by name.
func (r *Roster) Channels(ctx context.Context, c caller.Caller, in ChannelsInput) ([]Channel, error) {
	if err := c.May(identity.ReadOwn, "list channels"); err != nil {
		return nil, r.access.Refused(ctx, c.Workspace, c.Actor(), "list-channels", "", err)
	}
	if in.Limit < 0 || in.Limit > view.MaxPage {
		return nil, refusal.New(refusal.Invalid, "use 1 to 500", "a limit of %d is out of range", in.Limit)
	}
	states, err := r.views.Channels(ctx, c.Workspace, in.After, in.Limit)
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	list := make([]Channel, len(states))
	for i, s := range states {
		list[i] = channelOf(s, 0)
	}
	return list, nil
}

// Channel shows one channel. It is a fresh read.
func (r *Roster) Channel(ctx context.Context, c caller.Caller, name string) (Channel, error) {
	err := c.May(identity.ReadOwn, "show a channel")
	var f stream.Folded[channel.State]
	if err == nil {
		f, err = r.channel(ctx, c.Workspace, name)
	}
	if err != nil {
		return Channel{}, r.access.Refused(ctx, c.Workspace, c.Actor(), "show-channel", name, err)
	}
	return channelOf(f.State, f.Head), nil
}

// channel is a fresh read of a channel that exists.
func (r *Roster) channel(ctx context.Context, workspace, name string) (stream.Folded[channel.State], error) {
	if err := channel.CheckName(name); err != nil {
		return stream.Folded[channel.State]{}, err
	}
	f, err := r.channels.Load(ctx, channelStream(workspace, name), true)
	if err == nil && !f.State.Exists() {
		err = refusal.New(refusal.NotFound, "list the channels to see which there are", "there is no channel %s", name)
	}
	return f, err
}

// Receivers are the agents that a publisher reaches through a channel now: who subscribes to it, but for the publisher.
func (r *Roster) Receivers(ctx context.Context, workspace, name, publisher string) ([]string, error) {
	f, err := r.channel(ctx, workspace, name)
	return f.State.Receivers(publisher), err
}

// Subscribes reports whether an agent subscribes to a channel, as far as is known here.
func (r *Roster) Subscribes(ctx context.Context, workspace, name, agent string) (bool, error) {
	f, err := r.channels.Load(ctx, channelStream(workspace, name), false)
	return f.State.Exists() && f.State.Has(agent), err
}

func channelOf(s channel.State, at ledger.Position) Channel {
	return Channel{
		Name: s.Name, Description: s.Description, Owner: s.Owner, Subscribers: append([]string{}, s.Subscribers...), Created: s.CreatedAt, Position: at,
	}
}
