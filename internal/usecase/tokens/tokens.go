package tokens

import (
	"context"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/random"
	"github.com/trapezehq/trapeze/internal/usecase/workspacestore"
)

const (
	cached     = 12_000 // folds of tokens that are kept in memory
	remembered = 10_000 // idempotency keys that a token remembers at least: unlike tasks, tokens do not end
)

// Tokens is the use cases of tokens, and tells who presents one. Its methods are safe for many goroutines.
type Tokens struct {
	tokens  stream.Kind[identity.State, identity.Event]
	agents  *agents.Store
	spaces  *workspacestore.Store
	views   view.Store
	access  *access.Log
	random  *random.Source
	now     func() time.Time
	issuer  Issuer                             // nil: only tokens of this server count
	current *stream.Current                    // nil: no other server makes entries
	vouched simplelru.LRUCache[string, string] // the agents of the issuer's tokens that are recorded, by id of the token
}

// New returns the use cases of the tokens of a ledger. Without an issuer, only tokens of this server count.
func New(l ledger.Ledger, v view.Store, a *agents.Store, w *workspacestore.Store, log *access.Log, r *random.Source, now func() time.Time, issuer Issuer, current *stream.Current) (*Tokens, error) {
	ts := &Tokens{agents: a, spaces: w, views: v, access: log, random: r, now: now, issuer: issuer, current: current}
	var err error
	if ts.vouched, err = lru.New[string, string](cached); err != nil {
		return nil, err
	}
	if ts.tokens, err = stream.New("token", l, identity.Fold, now, identity.Events, stream.Options[identity.State, identity.Event]{Cached: cached, Remember: remembered, Current: current}); err != nil {
		return nil, err
	}
	return ts, nil
}

// Learn tells the cache of an entry that another server may have made.
func (ts *Tokens) Learn(e ledger.Entry) { ts.tokens.Learn(e) }

// tokenStream: all tokens are in the default workspace, so that a token's text alone finds it; the workspace in which it
// counts is in its state.
func tokenStream(id string) ledger.Stream {
	return ledger.StreamOf(identity.DefaultWorkspace, "token", id)
}

// Token is what is known about a token. Its text is shown once, when it is made.
type Token struct {
	ID   string        `json:"id"`
	Role identity.Role `json:"role"`
	Name string        `json:"name"`
	// Workspace is where the token counts. It sees nothing of any other.
	Workspace string    `json:"workspace"`
	Label     string    `json:"label,omitempty"`
	Person    string    `json:"person,omitempty"`
	By        string    `json:"created_by"`
	Created   time.Time `json:"created"`
	Expires   time.Time `json:"expires,omitzero"`
	Revoked   time.Time `json:"revoked,omitzero"`
	Text      string    `json:"token,omitempty"`
}

func tokenOf(s identity.State) Token {
	return Token{
		ID: s.ID, Role: s.Principal.Role, Name: s.Principal.Name, Workspace: s.Principal.Workspace, Label: s.Label, Person: s.Person, By: s.CreatedBy,
		Created: s.CreatedAt, Expires: s.ExpiresAt, Revoked: s.RevokedAt,
	}
}

// governs reports whether a token is of the caller's workspace, or the caller of the default one.
func governs(c caller.Caller, t identity.State) bool {
	return c.Workspace == identity.DefaultWorkspace || t.Principal.Workspace == c.Workspace
}

func (ts *Tokens) change(ctx context.Context, c caller.Caller, id, request string, cmd identity.Command) (stream.Outcome[identity.State], error) {
	if err := identity.CheckID(id); err != nil {
		return stream.Outcome[identity.State]{}, err
	}
	return ts.tokens.Do(ctx, c.Write(request), tokenStream(id), func(s identity.State, now time.Time) ([]identity.Event, error) {
		return identity.Decide(s, cmd, now)
	})
}
