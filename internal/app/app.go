package app

import (
	"context"
	"crypto/rand"
	"io"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/access"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/handoff"
	"github.com/trapezehq/trapeze/internal/identity"
	"github.com/trapezehq/trapeze/internal/ledger"
	"github.com/trapezehq/trapeze/internal/registry"
	"github.com/trapezehq/trapeze/internal/stream"
	"github.com/trapezehq/trapeze/internal/view"
)

// The kinds of streams.
const (
	kindTask  = "task"
	kindAgent = "agent"
	kindToken = "token"
)

// Options of an App. The zero value is fine.
type Options struct {
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Random is the source of salts, tokens and jitter; nil means crypto/rand.
	Random io.Reader
	// CachedTasks bounds the folds of tasks that are kept in memory; 0 means 4096.
	CachedTasks int
	// CachedEnvelopes bounds the sealed envelopes that are kept in memory, in bytes; 0 means 16 MiB.
	CachedEnvelopes int
}

// App is the use cases over one ledger and its views. Its methods are safe for many goroutines.
type App struct {
	ledger    ledger.Ledger
	views     view.Store
	now       func() time.Time
	random    io.Reader
	randomMu  sync.Mutex
	tasks     *stream.Kind[handoff.Task, fact.Event]
	agents    *stream.Kind[registry.State, registry.Event]
	tokens    *stream.Kind[identity.State, identity.Event]
	envelopes *stream.Bytes
	access    *access.Log
	presence  *presence
}

// New returns the use cases over a ledger and views that follow it.
func New(l ledger.Ledger, v view.Store, o Options) (*App, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.CachedTasks <= 0 {
		o.CachedTasks = 4096
	}
	if o.CachedEnvelopes <= 0 {
		o.CachedEnvelopes = 16 << 20
	}
	a := &App{
		ledger: l, views: v, now: o.Now, random: o.Random, envelopes: stream.NewBytes(o.CachedEnvelopes),
		presence: newPresence(o.Now()),
	}
	var err error
	if a.tasks, err = stream.New(kindTask, l, handoff.Fold, o.Now, o.CachedTasks, fact.Events); err != nil {
		return nil, err
	}
	if a.agents, err = stream.New(kindAgent, l, registry.Fold, o.Now, 12_000, registry.Events); err != nil {
		return nil, err
	}
	if a.tokens, err = stream.New(kindToken, l, identity.Fold, o.Now, 12_000, identity.Events); err != nil {
		return nil, err
	}
	if a.access, err = access.New(l, o.Now); err != nil {
		return nil, err
	}
	return a, nil
}

// Views are the lists that surfaces wait on and page through.
func (a *App) Views() view.Store { return a.views }

// Err is nil while the server can do its work, and otherwise says why it cannot.
func (a *App) Err() error {
	if err := a.ledger.Err(); err != nil {
		return err
	}
	return a.views.Err()
}

// bytes reads random bytes.
func (a *App) bytes(b []byte) error {
	a.randomMu.Lock()
	defer a.randomMu.Unlock()
	_, err := io.ReadFull(a.random, b)
	return err
}

// Wait returns when the views have everything up to a position.
func (a *App) Wait(ctx context.Context, at ledger.Position) error {
	if err := a.views.Wait(ctx, at); err != nil {
		return stream.Unavailable(err)
	}
	return nil
}

func taskStream(workspace, id string) ledger.Stream { return ledger.StreamOf(workspace, kindTask, id) }

func agentStream(workspace, name string) ledger.Stream {
	return ledger.StreamOf(workspace, kindAgent, name)
}

func tokenStream(workspace, id string) ledger.Stream {
	return ledger.StreamOf(workspace, kindToken, id)
}
