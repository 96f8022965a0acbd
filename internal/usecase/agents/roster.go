package agents

import (
	"io"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/channel"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// Folds that are kept in memory.
const (
	cached         = 12_000 // of agents, and as many of tokens
	cachedChannels = 1_000
)

// remembered is how many idempotency keys an agent, a token and a channel remember at least: unlike tasks, they do not end.
const remembered = 10_000

// Roster knows the agents, tokens and channels of one ledger. Its methods are safe for many goroutines.
type Roster struct {
	ledger   ledger.Ledger
	views    view.Store
	now      func() time.Time
	random   io.Reader
	mu       sync.Mutex // of random
	agents   stream.Kind[agent.State, agent.Event]
	tokens   stream.Kind[identity.State, identity.Event]
	channels stream.Kind[channel.State, channel.Event]
	access   *access.Log
	issuer   Issuer                               // nil: tokens of this server alone count
	vouched  simplelru.LRUCache[string, struct{}] // the issuer's tokens that are on record, by id
	presence *presence
	crowds   sync.Map // *view.Crowd by workspace: of the last decision that looked at everybody
}

// New returns the roster of a ledger and the views that follow it. Without an issuer, only its own tokens count.
func New(l ledger.Ledger, v view.Store, log *access.Log, now func() time.Time, random io.Reader, issuer Issuer) (*Roster, error) {
	r := &Roster{ledger: l, views: v, now: now, random: random, access: log, issuer: issuer, presence: newPresence(now())}
	var err error
	if r.vouched, err = lru.New[string, struct{}](cached); err != nil {
		return nil, err
	}
	if r.agents, err = stream.New("agent", l, agent.Fold, now, agent.Events, kept[agent.State, agent.Event](cached)); err != nil {
		return nil, err
	}
	if r.tokens, err = stream.New("token", l, identity.Fold, now, identity.Events, kept[identity.State, identity.Event](cached)); err != nil {
		return nil, err
	}
	if r.channels, err = stream.New("channel", l, channel.Fold, now, channel.Events, kept[channel.State, channel.Event](cachedChannels)); err != nil {
		return nil, err
	}
	return r, nil
}

// kept are the options of streams that do not end.
func kept[S, E any](cached int) stream.Options[S, E] {
	return stream.Options[S, E]{Cached: cached, Remember: remembered}
}

// Random fills b with random bytes.
func (r *Roster) Random(b []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := io.ReadFull(r.random, b)
	return err
}

func agentStream(workspace, name string) ledger.Stream {
	return ledger.StreamOf(workspace, "agent", name)
}

func channelStream(workspace, name string) ledger.Stream {
	return ledger.StreamOf(workspace, "channel", name)
}

// tokenStream: all tokens are in the default workspace, so that a token's text alone finds it; the workspace in which it
// counts is in its state.
func tokenStream(id string) ledger.Stream {
	return ledger.StreamOf(identity.DefaultWorkspace, "token", id)
}
