package caller

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
)

// MaxKey is the most bytes an idempotency key may have.
const MaxKey = 200

// Caller is who asks, by which credential, and under which idempotency key. Surfaces get it from
// authentication (package tokens); nothing in it ever comes from a request's body.
type Caller struct {
	identity.Principal
	Token string // id of the token
	// Expires is when the token does; zero: never.
	Expires time.Time
	For     []string // on whose behalf, nearest first
	Key     string   // idempotency key of this call; empty: none
	// Person is who sits at an agent's client, by name, as its token says; empty: nobody.
	Person string
	// Through is the agent, by name, whose token brings the word of a person at its client; empty: the caller's own token.
	Through string
	// Scopes narrow what the credential may be used for; nil: all that the role may do.
	Scopes *identity.Scopes
	// Trace is the W3C trace context of the call; empty if it has none. The envelope of a handoff that the call makes has it.
	Trace envelope.Trace
	// Archived is the refusal of changes in the caller's workspace, which is archived; nil: it is not.
	Archived error

	// Learned says that the caches of this server had learned of every entry before the call when it was authenticated. It is false where that is not known, and without
	// other servers.
	Learned bool

	made *made // the entries of this call; nil: they are not collected
}

// AsPerson is the person at an agent's client, who answers there with the agent's token. Such a person answers what was asked at
// that client and does nothing else: the agent may see no more and decide no more for having a person. Without such a person it
// refuses (not_permitted).
func (c Caller) AsPerson(name string) (Caller, error) {
	if name == "" || c.Person != name {
		return Caller{}, refusal.New(refusal.NotPermitted, "have an admin [make a token that names the person at your client](token create .role=agent .name .person)",
			"the token of %s names no person %.64q", c, name)
	}
	c.Through, c.Role, c.Name, c.Person = c.Name, identity.Operator, name, ""
	return c, nil
}

// WithKey is the caller with an idempotency key for one call.
func (c Caller) WithKey(key string) Caller {
	c.Key = key
	return c
}

// WithTrace is the caller with the W3C trace context of one call. A malformed one is ignored: see [envelope.ParseTrace].
func (c Caller) WithTrace(traceparent, tracestate string) Caller {
	c.Trace = envelope.ParseTrace(traceparent, tracestate)
	return c
}

// System is the server itself, working for others.
func System(workspace, part string, on ...ledger.Actor) Caller {
	c := Caller{Principal: identity.Principal{Workspace: workspace, Role: identity.System, Name: part}}
	for _, a := range on { // the actor that caused it, and the actors behind that one
		c.For = append(append(c.For, a.Principal), a.For...)
	}
	c.For = c.For[:min(len(c.For), ledger.MaxChain)]
	return c
}

// May refuses (not_permitted) what the caller's role, or the scopes of its token, do not allow.
func (c Caller) May(v identity.Permission, what string) error {
	if c.IsSystem() {
		return nil
	}
	if c.Workspace == "" {
		return refusal.New(refusal.Unauthenticated, "send a token", "no credential")
	}
	if err := identity.Require(c.Principal, v, what); err != nil {
		return err
	}
	if c.Archived != nil && !identity.ScopeRead.Allows(v) && v != identity.ManageTokens { // a token can be revoked anywhere
		return c.Archived
	}
	if c.Scopes == nil {
		return nil
	}
	return c.Scopes.Require(c.Principal, v, what)
}

// Can reports whether [Caller.May] would let the caller do a class of things.
func (c Caller) Can(v identity.Permission) bool { return c.May(v, "") == nil }

// Actor is the caller as an entry names it.
//
// Of a person at the client of an agent it names both: the agent, which brought the word, on behalf of the person.
func (c Caller) Actor() ledger.Actor {
	if c.Through != "" {
		agent := identity.Principal{Role: identity.Agent, Name: c.Through}
		return ledger.Actor{Principal: agent.String(), Token: c.Token, For: append([]string{c.String()}, c.For...)}
	}
	return ledger.Actor{Principal: c.String(), Token: c.Token, For: c.For}
}

// Write is the caller as a writer to a stream. request is the digest of what it asks, which is recorded together with the idempotency key in one digest: who does not know
// the key, which is not recorded, cannot confirm by it what was asked.
func (c Caller) Write(request string) stream.Write {
	w := stream.Write{Actor: c.Actor(), Key: c.DigestKey()}
	if request != "" {
		w.Request, w.Before = digestOf("request", c.Key, request), request
	}
	if c.made != nil {
		w.Made = c.made.add
	}
	return w
}

// CheckKey refuses an idempotency key that is too long or holds control characters.
func (c Caller) CheckKey() error {
	if len(c.Key) > MaxKey {
		return refusal.New(refusal.TooLarge, "use a UUID", "an idempotency key of %d bytes is too long", len(c.Key)).With("field", "header.Idempotency-Key")
	}
	for _, r := range c.Key {
		if r < ' ' || r == 0x7f {
			return refusal.New(refusal.Invalid, "use a UUID", "the idempotency key holds a control character").With("field", "header.Idempotency-Key")
		}
	}
	return nil
}

// DigestKey scopes a caller's key to its workspace and principal. Empty without a key.
func (c Caller) DigestKey() string {
	if c.Key == "" {
		return ""
	}
	return digestOf("key", c.Workspace, c.String(), c.Key)
}

// digestOf is the digest of texts with a zero byte between two of them.
func digestOf(texts ...string) string {
	b := make([]byte, 0, 256)
	for i, text := range texts {
		if i > 0 {
			b = append(b, 0)
		}
		b = append(b, text...)
	}
	return digest(b)
}

// digest is half of a SHA-256, in hex.
func digest(b []byte) string {
	sum, text := sha256.Sum256(b), [sha256.Size]byte{}
	hex.Encode(text[:], sum[:sha256.Size/2])
	return string(text[:])
}

// Tolerate forgets refusals that a repeat would meet again: they mean that there is nothing to do.
func Tolerate(err error) error {
	if r, ok := refusal.As(err); ok && r.Code != refusal.Unavailable && r.Code != refusal.Unknown {
		return nil
	}
	return err
}
