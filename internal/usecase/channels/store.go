package channels

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/channel"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
)

const (
	cached     = 1_000  // folds of channels that are kept in memory
	remembered = 10_000 // idempotency keys that a channel remembers at least: unlike tasks, channels do not end
)

// StreamOf is the stream of a channel.
func StreamOf(workspace, name string) ledger.Stream {
	return ledger.StreamOf(workspace, "channel", name)
}

// Store is the channels of one ledger, as other use cases reach them. Its methods are safe for many goroutines.
type Store struct {
	stream.Kind[channel.State, channel.Event]
}

// NewStore returns the channels of a ledger.
func NewStore(l ledger.Ledger, now func() time.Time) (*Store, error) {
	kind, err := stream.New("channel", l, channel.Fold, now, channel.Events, stream.Options[channel.State, channel.Event]{Cached: cached, Remember: remembered})
	if err != nil {
		return nil, err
	}
	return &Store{Kind: kind}, nil
}

// find is a fresh read of a channel that exists.
func (s *Store) find(ctx context.Context, workspace, name string) (stream.Folded[channel.State], error) {
	if err := refusal.In("id", channel.CheckName(name)); err != nil {
		return stream.Folded[channel.State]{}, err
	}
	f, err := s.Load(ctx, StreamOf(workspace, name), true)
	if err == nil && !f.State.Exists() {
		err = refusal.New(refusal.NotFound, "[list the channels](channel list) to see which there are", "there is no channel %s", name)
	}
	return f, err
}

// Receivers are the agents that a publisher reaches through a channel now: who subscribes to it, but for the publisher.
func (s *Store) Receivers(ctx context.Context, workspace, name, publisher string) ([]string, error) {
	f, err := s.find(ctx, workspace, name)
	return f.State.Receivers(publisher), err
}

// Subscribes reports whether an agent subscribes to a channel, as far as is known here.
func (s *Store) Subscribes(ctx context.Context, workspace, name, agent string) (bool, error) {
	f, err := s.Load(ctx, StreamOf(workspace, name), false)
	return f.State.Exists() && f.State.Has(agent), err
}
