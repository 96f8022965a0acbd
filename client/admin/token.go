package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// Token describes a token.
type Token struct {
	ID        string      `json:"id"`
	Role      client.Role `json:"role"`
	Name      string      `json:"name"`
	Workspace string      `json:"workspace"` // where it counts
	Label     string      `json:"label,omitempty"`
	Person    string      `json:"person,omitempty"` // at the agent's client
	By        string      `json:"created_by"`
	Created   time.Time   `json:"created"`
	Expires   time.Time   `json:"expires,omitzero"`
	Revoked   time.Time   `json:"revoked,omitzero"`
	Text      string      `json:"token,omitempty"` // the token itself: in the answer that made it, and never again
}

// TokenInput makes a token.
type TokenInput struct {
	Role      client.Role `json:"role"`
	Name      string      `json:"name"` // of the agent or person that it speaks for
	Label     string      `json:"label,omitempty"`
	Person    string      `json:"person,omitempty"`    // of an agent's token: the person at its client; see [client.WithPerson]
	Workspace string      `json:"workspace,omitempty"` // where it counts; left out: the caller's
	Expires   time.Time   `json:"expires,omitzero"`    // left out: never
}

// TokenList is a list of tokens.
type TokenList struct {
	Tokens   []Token `json:"tokens"`
	Position uint64  `json:"position"`
}

// CreateToken makes a token. Its text is in this answer and never again.
func (c Client) CreateToken(ctx context.Context, in TokenInput) (Token, error) {
	return call[Token](ctx, c, http.MethodPost, nil, in, "tokens")
}

// Tokens lists the tokens, revoked ones too.
func (c Client) Tokens(ctx context.Context) (TokenList, error) {
	return call[TokenList](ctx, c, http.MethodGet, nil, nil, "tokens")
}

// RevokeToken ends a token for good.
func (c Client) RevokeToken(ctx context.Context, id string) (Token, error) {
	return call[Token](ctx, c, http.MethodDelete, nil, nil, "tokens", id)
}
