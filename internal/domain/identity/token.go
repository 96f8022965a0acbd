package identity

import (
	"crypto/subtle"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// MaxLabel is the most bytes a token's label may have.
const MaxLabel = 200

// State is the state of one token. The zero State is a token that never was.
type State struct {
	ID        string    `json:"id"`
	Principal Principal `json:"principal"` // that the token identifies
	Hash      string    `json:"hash"`      // SHA-256 of the secret, hex
	Label     string    `json:"label,omitempty"`
	Person    string    `json:"person,omitempty"` // the person at the agent's client who answers questions there, by name; empty: nobody
	CreatedBy string    `json:"created_by"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at,omitzero"` // zero: never
	RevokedBy string    `json:"revoked_by,omitempty"`
	RevokedAt time.Time `json:"revoked_at,omitzero"` // zero: not revoked
}

// Exists reports whether the token was ever created.
func (s State) Exists() bool { return s.ID != "" }

// Command asks for a change of one token. The set is sealed.
type Command interface{ token() string }

// Create makes a token. Whether the agent it names is registered is for the use case to say.
type Create struct {
	ID        string // from Mint
	Hash      string // from Mint
	Principal Principal
	Label     string    // what it is for; at most MaxLabel bytes
	Person    string    // of an agent's token: who answers what people are asked at its client; empty: nobody
	ExpiresAt time.Time // zero: never
	By        string    // principal that creates it
}

// Revoke ends a token for good. A token that has ended already stays as it is.
type Revoke struct {
	ID string
	By string // principal that revokes it
}

func (c Create) token() string { return c.ID }
func (c Revoke) token() string { return c.ID }

// Event is an event of one token. The set is sealed by [Events].
type Event interface{ EventName() string }

// Events holds one of each event, for codecs.
var Events = []Event{TokenCreated{}, TokenRevoked{}}

// TokenCreated begins a token's life.
type TokenCreated struct {
	ID        string    `json:"id"`
	Workspace string    `json:"workspace"`
	Role      Role      `json:"role"`
	Name      string    `json:"name"`
	Hash      string    `json:"hash"`
	Label     string    `json:"label,omitempty"`
	Person    string    `json:"person,omitempty"`
	By        string    `json:"by"`
	At        time.Time `json:"at"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
}

// TokenRevoked ends it.
type TokenRevoked struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// EventName is "token-created".
func (TokenCreated) EventName() string { return "token-created" }

// EventName is "token-revoked".
func (TokenRevoked) EventName() string { return "token-revoked" }

// Decide says what a command makes of a token at the time now. Refusals: invalid, conflict for an id that is taken,
// not_found for a token that never was.
func Decide(s State, c Command, now time.Time) ([]Event, error) {
	switch c := c.(type) {
	case Create:
		return decideCreate(s, c, now)
	case Revoke:
		if !s.Exists() || s.ID != c.ID {
			return nil, refusal.New(refusal.NotFound, "[list the tokens](token list) to see their ids", "there is no such token")
		}
		if !s.RevokedAt.IsZero() {
			return nil, nil
		}
		return []Event{TokenRevoked{By: c.By, At: now.UTC()}}, nil
	}
	return nil, refusal.New(refusal.Invalid, "", "unknown command %T", c)
}

func decideCreate(s State, c Create, now time.Time) ([]Event, error) {
	if s.Exists() {
		return nil, refusal.New(refusal.Conflict, "[create the token](token create) again: it gets another id", "the id of the token is taken")
	}
	if !canonical(c.ID, idLength) || !validHash(c.Hash) {
		return nil, refusal.New(refusal.Invalid, "let the server make id and secret", "the token's id or hash is malformed")
	}
	if err := c.Principal.check(); err != nil {
		return nil, err
	}
	if err := checkServer(c.Principal); err != nil {
		return nil, err
	}
	if err := checkLabel(c.Label); err != nil {
		return nil, err
	}
	if err := c.checkPerson(); err != nil {
		return nil, err
	}
	if !c.ExpiresAt.IsZero() && !c.ExpiresAt.After(now) {
		return nil, refusal.New(refusal.Invalid, "give a time in the future, or none for a token that does not expire",
			"the token would have expired already, at %s", c.ExpiresAt.UTC().Format(time.RFC3339))
	}
	return []Event{TokenCreated{
		ID: c.ID, Workspace: c.Principal.Workspace, Role: c.Principal.Role, Name: c.Principal.Name, Hash: c.Hash,
		Label: c.Label, Person: c.Person, By: c.By, At: now.UTC(), ExpiresAt: c.ExpiresAt.UTC(),
	}}, nil
}

// servers are the names under which the record has what the server does by itself, as in system/courier.
var servers = []string{"system", "server", "courier", "trapeze"}

// checkServer refuses a person whose name a reader of the record could take for the server. Agents have names of their own: see package agent.
func checkServer(p Principal) error {
	if p.Role != Agent && slices.Contains(servers, p.Name) {
		return refusal.New(refusal.Invalid, "use the name of the person", "%s could be taken for the server, which is no person", p)
	}
	return nil
}

// checkPerson refuses a person at the client of somebody who is no agent, and one who would be the agent itself: it
// cannot answer its own questions.
func (c Create) checkPerson() error {
	switch {
	case c.Person == "":
		return nil
	case c.Principal.Role != Agent:
		return refusal.New(refusal.Invalid, "leave the person out: the bearer is one", "only an agent's token names a person at its client")
	case c.Person == event.AgentName(c.Principal.Name):
		return refusal.New(refusal.Invalid, "name the person, not the agent", "agent %s cannot be the person at its own client", c.Person)
	}
	return event.CheckName("the person's name", c.Person)
}

func checkLabel(s string) error {
	const hint = "say in a few words of plain text what the token is for"
	if len(s) > MaxLabel {
		return refusal.New(refusal.TooLarge, hint, "the label has %d bytes, at most %d are allowed", len(s), MaxLabel)
	}
	bad := func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }
	if !utf8.ValidString(s) || strings.ContainsFunc(s, bad) {
		return refusal.New(refusal.Invalid, hint, "the label is not valid UTF-8 or has control characters")
	}
	return nil
}

// Fold returns the state after an event. It never refuses.
func Fold(s State, e Event) State {
	switch e := e.(type) {
	case TokenCreated:
		return State{
			ID: e.ID, Principal: Principal{Workspace: e.Workspace, Role: e.Role, Name: e.Name}, Hash: e.Hash,
			Label: e.Label, Person: e.Person, CreatedBy: e.By, CreatedAt: e.At, ExpiresAt: e.ExpiresAt,
		}
	case TokenRevoked:
		s.RevokedBy, s.RevokedAt = e.By, e.At
	}
	return s
}

// HasSecret reports whether a secret is that of the token, whether or not it may still be used.
func (s State) HasSecret(secret string) bool {
	text := digestOf(secret)
	return subtle.ConstantTimeCompare(text[:], []byte(s.Hash)) == 1
}

// Verify returns the principal of a secret at the time now, given the state of its token (zero if there is none). It
// refuses (unauthenticated) an invalid secret, in time that does not depend on the secret.
func Verify(s State, secret string, now time.Time) (Principal, error) {
	const hint = "use another token, or ask an admin to [make one](token create)"
	same := s.HasSecret(secret)
	switch {
	case !s.Exists() || !same:
		return Principal{}, refusal.New(refusal.Unauthenticated, hint, "this token is unknown")
	case !s.RevokedAt.IsZero():
		return Principal{}, refusal.New(refusal.Unauthenticated, hint, "this token was revoked")
	case !s.ExpiresAt.IsZero() && !now.Before(s.ExpiresAt):
		return Principal{}, refusal.New(refusal.Unauthenticated, hint, "this token expired at %s", s.ExpiresAt.Format(time.RFC3339))
	}
	return s.Principal, nil
}
