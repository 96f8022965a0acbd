package app

import (
	"github.com/trapezehq/trapeze/internal/access"
	"github.com/trapezehq/trapeze/internal/handoff"
	"github.com/trapezehq/trapeze/internal/identity"
	"github.com/trapezehq/trapeze/internal/ledger"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/stream"
)

// MaxKey is the most bytes an idempotency key may have.
const MaxKey = 200

// Caller is who asks, by which credential, and under which idempotency key. Surfaces get it from
// [App.Authenticate]; nothing in it ever comes from a request's body.
type Caller struct {
	identity.Principal
	Token string   // id of the token
	For   []string // on whose behalf, nearest first
	Key   string   // idempotency key of this call; empty: none
}

// WithKey is the caller with an idempotency key for one call.
func (c Caller) WithKey(key string) Caller {
	c.Key = key
	return c
}

// system is the server itself, working for others.
func system(workspace, room string, on ...string) Caller {
	return Caller{Principal: identity.Principal{Workspace: workspace, Role: "system", Name: room}, For: on}
}

func (c Caller) isSystem() bool { return c.Role == "system" }

// may refuses (not_permitted) what the caller's role does not allow.
func (c Caller) may(v identity.Verb, what string) error {
	if c.isSystem() {
		return nil
	}
	if c.Workspace == "" {
		return refusal.New(refusal.Unauthenticated, "send a token", "no credential")
	}
	return identity.Require(c.Principal, v, what)
}

// by is the caller as the rules see it.
func (c Caller) by() handoff.By {
	return handoff.By{
		Principal: c.String(), Agent: c.Agent(), System: c.isSystem(),
		Operator: identity.May(c.Role, identity.ActAny),
	}
}

func (c Caller) actor() ledger.Actor {
	return ledger.Actor{Principal: c.String(), Token: c.Token, For: c.For}
}

func (c Caller) who() access.Who { return access.Who{Workspace: c.Workspace, Actor: c.actor()} }

// write is the caller as a writer to a stream. request is the digest of what it asks.
func (c Caller) write(request string) stream.Write {
	return stream.Write{Actor: c.actor(), Key: digestKey(c), Request: request}
}

func (c Caller) checkKey() error {
	if len(c.Key) > MaxKey {
		return refusal.New(refusal.TooLarge, "use a UUID", "an idempotency key of %d bytes is too long", len(c.Key))
	}
	for _, r := range c.Key {
		if r < ' ' || r == 0x7f {
			return refusal.New(refusal.Invalid, "use a UUID", "the idempotency key holds a control character")
		}
	}
	return nil
}
