package usecase

import (
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/expect"
	"github.com/trapezehq/trapeze/internal/domain/erasure"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/alerts"
	"github.com/trapezehq/trapeze/internal/usecase/artifacts"
	"github.com/trapezehq/trapeze/internal/usecase/channels"
	"github.com/trapezehq/trapeze/internal/usecase/cluster"
	"github.com/trapezehq/trapeze/internal/usecase/conversations"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/envelopestore"
	"github.com/trapezehq/trapeze/internal/usecase/erasures"
	"github.com/trapezehq/trapeze/internal/usecase/figures"
	"github.com/trapezehq/trapeze/internal/usecase/followup"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/history"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
	"github.com/trapezehq/trapeze/internal/usecase/moves"
	"github.com/trapezehq/trapeze/internal/usecase/phrases"
	"github.com/trapezehq/trapeze/internal/usecase/policies"
	"github.com/trapezehq/trapeze/internal/usecase/positions"
	"github.com/trapezehq/trapeze/internal/usecase/presence"
	"github.com/trapezehq/trapeze/internal/usecase/quota"
	"github.com/trapezehq/trapeze/internal/usecase/random"
	"github.com/trapezehq/trapeze/internal/usecase/routes"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
	"github.com/trapezehq/trapeze/internal/usecase/tickets"
	"github.com/trapezehq/trapeze/internal/usecase/tokens"
	"github.com/trapezehq/trapeze/internal/usecase/workspaces"
	"github.com/trapezehq/trapeze/internal/usecase/workspacestore"
)

// Options of the use cases. The zero value is fine.
type Options struct {
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Random is the source of salts, tokens and jitter; nil means crypto/rand.
	Random io.Reader
	// CachedTasks is how many folds of tasks that have not ended are kept in memory at most; 0 means 2048.
	CachedTasks int
	// CachedEnvelopes is how many bytes of sealed envelopes are kept in memory at most; 0 means 3 MiB.
	CachedEnvelopes int
	// Decide calls a decision on a task and returns after it; nil: it is made on the goroutine of the call. See Workers of package stream.
	Decide func(func())
	// MaxOpen is how many tasks that have not ended one principal may have requested; 0 means 100,000. It may be exceeded by
	// the tasks that are created within a second.
	MaxOpen int
	// MaxWaiting is how many items of one sender may wait in one inbox, or tickets at one desk; 0 means 1,000. It may be exceeded by those that are
	// made at the same time.
	MaxWaiting int
	// Work bounds the previews, searches and checks of each principal that run at once; nil: half of the processors, at least one.
	Work *quota.Work
	// Majors converts envelopes between majors of their schema; the zero value knows ours.
	Majors envelope.Converter
	// Artifacts is the store of files; without one, calls about them are refused.
	Artifacts artifact.Store
	// ArtifactOptions say how long files are kept that nothing refers to.
	ArtifactOptions artifacts.Options
	// Issuer judges tokens that are not of this server; nil: they do not count.
	Issuer tokens.Issuer
	// Erasure destroys keys and builds the views again; nil keys: the content of the record is not sealed.
	Erasure erasures.Options
	// Integrity is nil while the record is what was acknowledged, as far as its tree tells; nil: there is no tree.
	Integrity func() error
	// Tree proves what is in the record; nil: calls for proofs are refused.
	Tree history.Tree
	// Figures counts the record; nil: calls about figures are refused.
	Figures figures.Source
	// Policy says where policy files are, and which adviser is asked where no rule matches.
	Policy policies.Options
	// Cluster is the servers of the record; nil: calls about them are refused.
	Cluster cluster.Servers
	// Presence is when agents were heard of; nil: only this server hears of them.
	Presence *presence.Presence
	// Current says up to where [UseCases.Learn] was told of entries; nil: no other server makes any.
	Current *stream.Current
}

// Surface is the use cases that surfaces call. They are safe for many goroutines.
type Surface struct {
	Tasks         *tasks.Tasks
	Tickets       *tickets.Tickets
	Envelopes     *envelopes.Envelopes
	Artifacts     *artifacts.Artifacts
	Memories      *memories.Memories
	Conversations *conversations.Conversations
	Agents        *agents.Agents
	Tokens        *tokens.Tokens
	Workspaces    *workspaces.Workspaces
	Moves         *moves.Moves
	Channels      *channels.Channels
	Policies      *policies.Policies
	Phrases       *phrases.Phrases
	History       *history.History
	Figures       *figures.Figures
	Alerts        *alerts.Alerts
	Erasures      *erasures.Erasures
	Cluster       *cluster.Cluster
	Positions     *positions.Positions
	// Work bounds the processor's work for each principal.
	Work *quota.Work
	// Now is the clock.
	Now func() time.Time
}

// UseCases is all use cases over one ledger: those that surfaces call, and what the server does by itself.
type UseCases struct {
	Surface
	// FollowUp does what follows from the entries of the ledger. It is for the courier.
	FollowUp *followup.FollowUp

	embedders *policies.Embedders
	stores    stores
}

// Close ends the programs that policies name. Call it when no use case runs any more.
func (u *UseCases) Close() { u.embedders.Close() }

// stores are the streams of each kind, as use cases reach them.
type stores struct {
	access        *access.Log
	random        *random.Source
	presence      *presence.Presence
	positions     *positions.Positions
	spaces        *workspacestore.Store
	tasks         *taskstore.Store
	agents        *agents.Store
	channels      *channels.Store
	envelopes     *envelopestore.Store
	conversations *conversations.Store
	memories      *memories.Store
}

func newStores(l ledger.Ledger, v view.Store, o Options) (s stores, err error) {
	s.random, s.presence, s.positions = random.New(o.Random), cmp.Or(o.Presence, presence.New(o.Now)), positions.New(l, v, o.Integrity)
	if s.access, err = access.New(l, o.Now); err != nil {
		return s, err
	}
	if s.tasks, err = taskstore.New(l, s.access, s.presence, o.Now, o.CachedTasks, o.Current != nil, o.Decide); err != nil {
		return s, err
	}
	if s.agents, err = agents.NewStore(l, v, o.Now); err != nil {
		return s, err
	}
	if s.channels, err = channels.NewStore(l, o.Now); err != nil {
		return s, err
	}
	s.envelopes = envelopestore.New(l, s.tasks, o.CachedEnvelopes)
	if s.conversations, err = conversations.NewStore(l, v, s.tasks, o.Now); err != nil {
		return s, err
	}
	s.memories, err = memories.NewStore(l, v, s.tasks, s.envelopes, s.conversations, o.Now)
	return s, err
}

// purge empties the caches of content.
func (s stores) purge() {
	s.tasks.Purge()
	s.conversations.Purge()
	s.memories.Purge()
	s.envelopes.Purge()
}

// New returns the use cases over a ledger and the views that follow it.
func New(l ledger.Ledger, v view.Store, o Options) (*UseCases, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	o.Work = cmp.Or(o.Work, quota.NewWork(0))
	o.CachedTasks, o.CachedEnvelopes = cmp.Or(max(o.CachedTasks, 0), 2048), cmp.Or(max(o.CachedEnvelopes, 0), 3<<20)
	spaces, err := workspacestore.New(l, v, o.Now, o.Current)
	if err != nil {
		return nil, err
	}
	plain := l
	l = spaces.Guard(l)
	s, err := newStores(l, v, o)
	if err != nil {
		return nil, err
	}
	s.spaces = spaces
	if o.Erasure.Keys != nil {
		s.access.Discreet()
	}
	waiting, err := quota.NewWaiting(o.MaxWaiting, v, o.Current != nil)
	if err != nil {
		return nil, err
	}
	s.tasks.OnDecided(waiting.Events)
	between := routes.New(l, v, s.agents, s.channels, s.random, waiting, o.Now)
	inForce, err := policies.NewStore(l, v, between, o.Now, o.Policy.Read, o.Erasure.Keys != nil)
	if err != nil {
		return nil, err
	}
	u := UseCases{stores: s, embedders: policies.NewEmbedders(inForce, o.Policy.Embedder)}
	meaning := memories.Options{Embedder: u.embedders.Of, Report: o.Policy.Report, Erase: u.forget}
	u.Positions, u.Work, u.Now = s.positions, o.Work, o.Now
	u.Agents = agents.New(s.agents, v, s.access, s.presence, o.Now)
	u.Channels = channels.New(s.channels, s.agents, v, s.access)
	u.Conversations = conversations.New(s.conversations, s.agents, s.access)
	if u.Memories, err = memories.New(s.memories, s.access, s.random, meaning, o.Work); err != nil {
		return nil, err
	}
	u.Cluster = cluster.New(o.Cluster, s.access)
	u.Figures = figures.New(o.Figures, s.access, o.Now)
	if u.Alerts, err = alerts.New(l, s.access, s.agents, o.Now, inForce.AlertChanges); err != nil {
		return nil, err
	}
	if u.History, err = history.New(l, s.tasks, s.access, s.agents, s.memories, s.conversations, s.envelopes, o.Tree, o.Integrity, o.Work, o.Now); err != nil {
		return nil, err
	}
	if u.Tokens, err = tokens.New(l, v, s.agents, spaces, s.access, s.random, o.Now, o.Issuer, o.Current); err != nil {
		return nil, err
	}
	u.Workspaces = workspaces.New(spaces, v, u.Tokens, o.Artifacts, s.access)
	moving := moves.Parts{Ledger: plain, Store: spaces, Views: v, Files: o.Artifacts, Access: s.access, Learn: func(entries []ledger.Entry) { u.Learn(entries) }, Sealed: o.Erasure.Keys != nil, Now: o.Now}
	if o.Tree != nil {
		moving.Tree = o.Tree
	}
	u.Moves = moves.New(moving)
	o.ArtifactOptions.Erased = u.erasedFile
	if u.Artifacts, err = artifacts.New(o.Artifacts, l, v, s.access, s.tasks, o.Now, o.ArtifactOptions); err != nil {
		return nil, err
	}
	o.Erasure.Purge = s.purge
	o.Erasure.Retention = func(ctx context.Context, workspace string) (erasure.Retentions, string, error) {
		p, err := inForce.Policy(ctx, workspace)
		if p == nil || err != nil {
			return nil, "", err
		}
		return p.Retentions(), p.Digest(), nil
	}
	of := erasures.Parts{Ledger: l, Access: s.access, Tasks: s.tasks, Memories: s.memories, Artifacts: u.Artifacts, Now: o.Now}
	if u.Erasures, err = erasures.New(of, o.Erasure); err != nil {
		return nil, err
	}
	return &u, u.addTasks(l, v, s, o, between, inForce)
}

// Prepare returns what decodes the events of an entry that all who follow the record need.
func Prepare() func(*ledger.Entry) {
	tasks := ledger.NewCodec(event.Events...)
	return func(e *ledger.Entry) {
		if _, kind, _ := e.Stream.Parts(); kind == taskstore.Kind {
			tasks.Prepare(e)
		}
	}
}

// Learn tells the caches of entries that other servers may have made. Call it with all of them, in order, before anything that follows them is told.
func (u *UseCases) Learn(entries []ledger.Entry) {
	u.stores.memories.Hear(entries)
	for _, e := range entries {
		switch _, kind, _ := e.Stream.Parts(); kind { // of others, nothing is read from a cache alone
		case taskstore.Kind:
			u.stores.tasks.Learn(e)
		case "agent":
			u.stores.agents.Learn(e)
		case "channel":
			u.stores.channels.Learn(e)
		case "token":
			u.Tokens.Learn(e)
		case workspacestore.Kind:
			u.stores.spaces.Learn(e)
		case "conversation":
			u.stores.conversations.Learn(e)
		}
	}
}

// forget erases a memory item that forget forgets.
func (u *UseCases) forget(ctx context.Context, workspace, id string, forget func() error) error {
	return u.Erasures.Forget(ctx, workspace, id, forget)
}

func (u *UseCases) erasedFile(ctx context.Context, workspace, digest string) (note string, tasks []string, err error) {
	return u.Erasures.OfFile(ctx, workspace, digest)
}

// addTasks adds the use cases that hand tasks off, and those that are made of them.
func (u *UseCases) addTasks(l ledger.Ledger, v view.Store, s stores, o Options, between *routes.Routes, inForce *policies.Store) error {
	sealer, err := envelopes.NewSealer(s.envelopes, s.agents, s.memories, u.Artifacts, s.random)
	if err != nil {
		return err
	}
	open, err := quota.New(o.MaxOpen, v, o.Now)
	if err != nil {
		return err
	}
	turns, err := quota.NewTurns(o.Now)
	if err != nil {
		return err
	}
	decider := policies.NewDecider(inForce, between, s.tasks, sealer, o.Policy.Adviser)
	results := expect.New(expect.Options{})
	hand := handoffs.New(s.agents, s.channels, between, inForce, decider, sealer, results)

	u.Envelopes = envelopes.New(sealer, s.tasks, s.access, o.Majors, o.Now)
	u.Policies = policies.New(inForce, decider, v, s.access, o.Now)
	u.Tickets = tickets.New(s.tasks, v, s.access, s.agents, between, sealer, turns, o.Now)
	u.Tasks = tasks.New(tasks.Parts{
		Ledger: l, Views: v, Positions: s.positions, Store: s.tasks, Access: s.access, Presence: s.presence, Agents: u.Agents, AgentStore: s.agents, Talks: s.conversations,
		Routes: between, Policies: inForce, Decider: decider, Sealer: sealer, Handoffs: hand, Tickets: u.Tickets, Said: u.History,
		Expect: results, Quota: open, Turns: turns, Work: o.Work, Majors: o.Majors, Now: o.Now,
	})
	u.Phrases = phrases.New(phrases.Parts{
		Tasks: u.Tasks, History: u.History, Store: s.tasks, Agents: s.agents, Policies: inForce, Positions: s.positions,
		Views: v, Access: s.access, Now: o.Now,
	})
	u.FollowUp = followup.New(followup.Parts{
		Views: v, Positions: s.positions, Spaces: s.spaces, Tasks: s.tasks, Presence: s.presence, Agents: s.agents, Channels: s.channels,
		Routes: between, Sealer: sealer, Handoffs: hand, Now: o.Now,
	})
	s.tasks.OnSpawned(u.FollowUp.ChildrenOf)
	return nil
}
